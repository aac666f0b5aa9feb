"""Pages of checks ask the database as often for many windows and rules as for few."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from quality.models import CheckSet, Measurement, RuleResult
from tests.component.conftest import People
from tests.component.portal.ui.table_rows import listed
from tests.component.quality.checks.checked import declare
from tests.component.quality.flag_lake import FlagLake

pytestmark = pytest.mark.django_db
QUERIES_AT_MOST = 22  # two of them are the badges of the menu; a tab has the header of its table


def grow(row: CheckSet, since: int, until: int) -> None:
    """Add a table without checks, and a window with a value and a result of each rule, a day."""
    now = timezone.now()
    for n in range(since, until):
        listed(f"other{n}")
    places = [(n, rule) for n in range(since, until) for rule in row.checks.rules]
    days = {n: now - timedelta(days=n) for n in range(since, until)}
    Measurement.objects.bulk_create(
        Measurement(check_set=row, metric=rule.measured.key, window=str(days[n].date()), value=n,
                    measured_at=days[n])
        for n, rule in places
    )  # fmt: skip
    RuleResult.objects.bulk_create(
        RuleResult(check_set=row, rule=rule.name, window=str(days[n].date()), outcome="failed",
                   severity="block", text="it is", value=n, judged_at=days[n])
        for n, rule in places
    )  # fmt: skip


def costs(client: Client, row: CheckSet) -> dict[str, int]:
    found = {}
    for url in (
        "/",
        "/tables/shop/notes/checks/",
        reverse("readiness:checks"),
        reverse("readiness:check-coverage"),
        reverse("readiness:check-set", args=[row.pk]),
        reverse("readiness:check-rule", args=[row.pk, "enough"]),
        reverse("readiness:check-history", args=[row.pk]),
        reverse("readiness-api:check-coverage"),
    ):
        with CaptureQueriesContext(connection) as caught:
            assert client.get(url).status_code == 200, url
        found[url] = len(caught)
    return found


def test_pages_of_checks_cost_the_same_for_many_windows(hive: FlagLake, people: People) -> None:
    listed("notes")
    row = declare(people.owner, timezone.now())
    CheckSet.objects.update(measured_at=timezone.now())
    client = Client()
    client.force_login(people.owner)
    client.get(reverse("ui:profile"))  # the first visit writes the session
    grow(row, 0, 5)
    few = costs(client, row)
    grow(row, 5, 200)
    many = costs(client, row)
    assert many == few
    assert {url: n for url, n in many.items() if n > QUERIES_AT_MOST and url != "/"} == {}
