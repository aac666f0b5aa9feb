"""Tests odd names of a scan or a person: shown on pages as they are, and no more than shown."""

from collections.abc import Collection, Iterator

import pytest
from django.test import Client
from django.urls import reverse

from lifecycle.models import DropPlanExample, TableFinding
from tests.component.lifecycle.plan_world import NOW
from tests.security.corpora import HIVE_NAMES, MARKUP, PATHS, SIGNS, TEXTS
from tests.security.inert import Page
from tests.security.odd_lake import AUDITED, NAMES, PARTITIONS, OddLake, too_long

pytestmark = pytest.mark.django_db(transaction=True)
ALL = "?size=200"
SAMPLE = (*list(MARKUP)[:6], "a template variable", "up", "a slash, escaped")
LINKED = (*MARKUP, *PATHS, *HIVE_NAMES)
BEGINNINGS = [text[:128] for text in TEXTS.values()]


def lists(odd: OddLake) -> Iterator[tuple[str, Collection[str]]]:
    """Yield each list with what must be read on it."""
    plan, day = odd.plan, NOW.date()
    yield reverse("lifecycle:paths") + ALL, [*NAMES.values(), *PARTITIONS.values()]
    yield reverse("lifecycle:expiring") + ALL, NAMES.values()
    yield reverse("ui:table-tab", args=["sales", "orders", "partitions"]) + ALL, PARTITIONS.values()
    yield reverse("lifecycle:holds") + ALL, [*PARTITIONS.values(), *BEGINNINGS]
    yield reverse("lifecycle:policy-alarms") + ALL, NAMES.values()
    yield reverse("lifecycle:calendar"), NAMES.values()
    yield reverse("ui:audit") + f"{ALL}&action={AUDITED}", BEGINNINGS
    yield reverse("ui:run", args=[odd.run.pk]), TEXTS.values()
    shown = DropPlanExample.objects.values_list("partition", flat=True)
    assert len(shown) == 100
    yield reverse("lifecycle:plan-table", args=[plan.pk, "sales", "orders"]) + ALL, shown
    yield reverse("lifecycle:plan", args=[plan.pk]), ["sales.orders"]
    ends = [odd.batch.first_partition, odd.batch.last_partition]
    yield reverse("lifecycle:backup-table", args=[day, "sales", "orders"]) + ALL, ends
    yield reverse("lifecycle:backup", args=[odd.batch.public_id]) + ALL, PARTITIONS.values()
    yield reverse("lifecycle:databases") + ALL, ["sales"]


def page_of(client: Client, address: str) -> Page:
    answer = client.get(address)
    assert answer.status_code == 200, address
    page = Page(answer.content.decode())
    assert not page.wrong, (address, page.wrong[:5])
    return page


def test_a_list_shows_each_name_exactly_and_runs_none(odd: OddLake) -> None:
    assert too_long() == [], "MariaDB would refuse the scan of the whole lake"
    assert odd.plan.n_items == len(PARTITIONS) - 1, odd.plan.ended_reason
    for who in ("bert", "dora"):
        client = odd.client(who)
        for address, texts in lists(odd):
            if who == "dora" and "lifecycle" not in address:
                continue  # of runs and the audit record an owner sees their own alone
            page = page_of(client, address)
            if who == "bert":
                missing = [text for text in texts if text not in page.text]
                assert not missing, (address, missing[:5])


def test_each_table_and_partition_is_found_by_its_own_name_and_by_no_other(odd: OddLake) -> None:
    links_of_a_list(odd)
    pages_of_one(odd)
    partitions_by_name(odd)


def links_of_a_list(odd: OddLake) -> None:
    """Follow the links of a list."""
    client = odd.client("bert")
    found = page_of(client, reverse("lifecycle:expiring") + ALL).addresses
    for name in (NAMES[key] for key in LINKED):
        address = reverse("lifecycle-api:table", args=["sales", name])
        page = reverse("ui:table-tab", args=["sales", name, "lifecycle"])
        assert f"{page}?lake=main" in found, name
        if name not in {".", ".."}:  # a browser would take these for steps
            assert client.get(address).json()["table"] == name
    assert TableFinding.objects.filter(db="sales").count() == len(NAMES) + 1


def pages_of_one(odd: OddLake) -> None:
    """Read the pages of single tables and partitions."""
    client = odd.client("dora")
    for name in SAMPLE:
        table = NAMES[name]
        where = reverse("ui:table-tab", args=["sales", table, "lifecycle"])
        assert table in page_of(client, where).text
        query = client.request().wsgi_request.GET.copy()
        query["partition"] = PARTITIONS[name]
        why = reverse("lifecycle:why", args=["sales", "orders"])
        assert PARTITIONS[name] in page_of(client, f"{why}?{query.urlencode()}").text


def partitions_by_name(odd: OddLake) -> None:
    """Ask for single partitions."""
    client = odd.client("alice")
    why = reverse("lifecycle-api:why", args=["sales", "orders"])
    for name in (*HIVE_NAMES, *SIGNS):
        said = client.get(why, {"partition": PARTITIONS[name]}).json()
        assert said["item"]["partition"] == PARTITIONS[name], name
