"""Tests policy pages: who sees and sets policies, and that refused input is kept."""

import csv
from datetime import datetime
from io import StringIO
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from optimizer.models import IcebergTable, PolicyVersion
from optimizer.policies.domain.policy import Level
from optimizer.policies.selectors.scopes import table_names
from optimizer.policies.services.policies import PolicyChange, policy_set
from portal.access.models import DatabaseAdministrator, User
from tests.component.conftest import LAKE, People
from tests.component.optimizer.optimizer_rows import iceberg

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
POLICIES = "/optimizer/policies/"
WHOLE = f"{POLICIES}of/*/"
SAID = {"seen": "0", "reason": "to try it", "do": "set"}
# The page of a scope has its form above its list.
QUERIES_AT_MOST = 16  # two of them count what waits, for the menu


@pytest.fixture
def now() -> datetime:
    return timezone.now()


@pytest.fixture
def row(now: datetime) -> IcebergTable:
    """A table of olga's, in shop."""
    return iceberg(now=now, columns={"id": "long", "at": "timestamp"})


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    client.get("/profile/")  # the first visit writes the session
    return client


def page(user: User, address: str) -> str:
    answer: Any = client_of(user).get(address)
    assert answer.status_code == 200, answer.content[:400]
    return str(answer.content.decode())


def sent(user: User, address: str, **said: Any) -> tuple[int, str]:
    answer: Any = client_of(user).post(address, {**SAID, **said}, follow=True)
    return answer.status_code, str(answer.content.decode())


def keep(people: People, scope: str, *, seen: int = 0, **values: object) -> PolicyVersion:
    change = PolicyChange(LAKE, scope, values, seen, "because")
    return policy_set(change, user=people.admin, now=timezone.now())


def new(scope: str) -> str:
    return f"{POLICIES}new/?{urlencode({'scope': scope})}"


def tab(row: IcebergTable) -> str:
    return f"/optimizer/tables/{row.pk}/policy/"


def test_a_table_shows_each_setting_and_who_says_so(people: People, row: IcebergTable) -> None:
    keep(people, "*", is_on=True, manifests=50)
    keep(people, "sh*", quiet="22:00-06:00")
    keep(people, "shop.clicks", target_bytes=128 * 1024**2)
    text = page(people.owner, tab(row))
    for words in (
        "128 MiB",
        "set for this table",
        "22:00-06:00",
        f"{POLICIES}of/sh*/?lake=main",
        f"{POLICIES}of/*/?lake=main",
        "default",
        "Target file size: 128 MiB, inherited before",
        "Inherited: 512 MiB, default.",
        'aria-current="page">Policy',
    ):
        assert words in text, words
    assert text.count(f'href="{tab(row)}?lake=main"') == 1


def test_an_owner_sets_only_what_is_named_and_takes_it_back(
    people: People, row: IcebergTable
) -> None:
    assert "Enter a reason" in sent(people.owner, tab(row), reason="", manifests="7")[1]
    status, text = sent(
        people.owner,
        tab(row),
        manifests="7",
        is_on="off",
        target_bytes="64 MiB",
        layout="sort(at)",
        budget_gb_hours="none",
        quiet="22:00 - 06:00",
        kinds=["MINOR", "CLUSTER"],
    )
    assert status == 200, text
    assert "Policy saved" in text
    made = PolicyVersion.objects.get()
    assert (made.scope, made.version, made.by, made.reason) == (
        "shop.clicks",
        1,
        "olga",
        "to try it",
    )
    assert made.values == {
        "manifests": 7,
        "is_on": False,
        "target_bytes": 64 * 1024**2,
        "layout": "sort(at)",
        "budget_gb_hours": None,
        "quiet": "22:00-06:00",
        "kinds": ["CLUSTER", "MINOR"],
    }
    for words in ('value="64 MiB"', 'value="sort(at)"', 'value="none"', 'name="seen" value="1"'):
        assert words in text, words
    assert sent(people.owner, tab(row), seen="1", reason="no more")[0] == 200
    assert PolicyVersion.objects.get(is_current=True).values == {}
    assert "inherited again, 64 MiB before" in page(people.owner, tab(row))


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"target_bytes": "much"}, "is no size: write 512 MiB"),
        ({"target_bytes": "3"}, "files of 3 bytes help nobody"),
        ({"orphan_days": "1"}, "take 3 days or more"),
        ({"manifests": "many"}, "Enter a whole number"),
        ({"manifests": "1" * 30}, "write a whole number"),
        ({"quiet": "at night"}, "hours of the day such as 22:00-06:00"),
        ({"is_on": "on", "quiet": "06:00-06:00"}, "leave 0 minutes of the day"),
        ({"layout": "sort(gone)"}, "which the table does not have"),
        ({"layout": "spiral(id)"}, "cannot be read"),
        ({"full_days": "3"}, "FULL is not allowed"),
        ({"is_on": "on", "kinds": ["NOTHING"]}, "may do nothing"),
        ({"budget_gb_hours": "lots"}, "is no budget"),
        ({"caution": "reckless"}, "is not one of the available choices"),
        ({}, "Nothing would change"),
    ],
)
def test_what_is_refused_stands_at_its_field_and_nothing_is_lost(
    people: People, row: IcebergTable, said: dict[str, str], words: str
) -> None:
    status, text = sent(people.owner, tab(row), keep_snapshots="33" if said else "", **said)
    assert status == 400
    assert words in text
    assert "to try it" in text
    if said:
        assert 'value="33"' in text
        field = text.index(f'name="{[*said][-1]}"')
        assert text.index(words) > field, "it is at its field"
    assert not PolicyVersion.objects.exists()


def test_the_second_of_two_people_looks_again_and_keeps_what_was_typed(
    people: People, row: IcebergTable
) -> None:
    keep(people, "shop.clicks", manifests=50)
    status, text = sent(people.owner, tab(row), manifests="7")
    assert status == 409
    for words in (
        *(
            "version 1 by now, set by ada; reload the page",
            "Manifests: 50",
            'value="7"',
            "to try it",
        ),
        'name="seen" value="1"',
    ):
        assert words in text, words
    assert sent(people.owner, tab(row), seen="1", manifests="7")[0] == 200
    assert PolicyVersion.objects.get(is_current=True).values == {"manifests": 7}


def test_a_preview_says_what_would_change_and_keeps_nothing(
    people: People, row: IcebergTable, now: datetime
) -> None:
    for n in range(3):
        iceberg(f"t{n}", now=now)
    keep(people, "shop.t0", manifests=7)
    keep(people, "shop.t1", kinds=["MINOR"])
    status, text = sent(people.admin, new("shop"), do="preview", reason="", manifests="9",
                        layout="sort(id)", kinds=["CLUSTER", "MINOR"])  # fmt: skip
    assert status == 200
    for words in (
        "4 of 4 tables would change",
        "Manifests of 3 tables: 100 → 9",
        "Sort order of 4 tables: none → sort(id)",
        "Nothing is kept yet",
        "shop.t1: layout and kinds",
        'value="sort(id)"',
    ):
        assert words in text, words
    assert PolicyVersion.objects.count() == 2
    status, text = sent(people.admin, new("none*"), do="preview", manifests="9")
    assert "It fits no table that you see" in text
    assert sent(people.admin, new("*"), do="preview", orphan_days="0")[0] == 400


def test_who_sees_and_sets_which_scope(people: People, row: IcebergTable, now: datetime) -> None:
    DatabaseAdministrator.objects.create(lake=LAKE, db="shop", username="dora")
    iceberg("secret", db="vault", now=now, owner="paul")
    for scope in ("*", "shop", "sh*.cl*", "vault", "va*.se*", "vault.secret", "shop.clicks"):
        keep(people, scope, manifests=50)
    seen: Any = client_of(people.owner).get(f"{POLICIES}?format=csv")
    found = {one["scope"]: one["n_tables"] for one in csv.DictReader(
        StringIO(b"".join(seen).decode()))}  # fmt: skip
    assert found == {"*": "1", "shop": "1", "sh*.cl*": "1", "shop.clicks": "1"}
    assert "vault" not in page(people.owner, POLICIES)
    assert "va*.se*" in page(people.operator, POLICIES)
    client = client_of(people.owner)
    for scope, status in (("vault", 404), ("va*.se*", 404), ("vault.secret", 404), ("shop", 200)):
        assert client.get(f"{POLICIES}of/{scope}/").status_code == status, scope
    assert client.get(f"{POLICIES}of/shop.clicks/")["Location"] == tab(row)
    assert sent(people.dba, new("vault"), manifests="3")[0] == 400
    for user in (people.owner, people.operator, people.stranger):
        assert client_of(user).post(WHOLE, {**SAID, "seen": "1"}).status_code == 403
    assert "You are not responsible for this scope" in page(people.operator, WHOLE)
    assert sent(people.stranger, tab(row), manifests="3")[0] == 404
    assert sent(people.dba, f"{POLICIES}of/shop/", seen="1", manifests="3")[0] == 200
    assert sent(people.dba, WHOLE, seen="1", manifests="3")[0] == 403
    assert sent(people.operator, tab(row), seen="1", manifests="3")[0] == 200


def test_a_new_policy_begins_with_its_scope(people: People, row: IcebergTable) -> None:
    empty = page(people.admin, POLICIES)
    for words in ("No policy is set yet, so nothing is done", "New policy"):
        assert words in empty, words
    assert "New policy" not in page(people.owner, POLICIES)
    for user in (people.owner, people.operator):
        assert client_of(user).get(f"{POLICIES}new/").status_code == 403
    client = client_of(people.admin)
    assert "Nothing was set here yet" in page(people.admin, new("ETL*.ev?nts"))
    assert client.get(new("shop.clicks"))["Location"] == tab(row)
    refused = client.get(f"{POLICIES}new/?scope=a.b.c")
    assert refused.status_code == 400
    assert "neither the lake (*)" in refused.content.decode()
    assert client.get(f"{POLICIES}new/?scope=shop.nothing").status_code == 400
    for none in ("etl*.ev%3Fnts", "a.b.c", "sh*"):
        assert client.get(f"{POLICIES}of/{none}/").status_code == 404
    assert sent(people.admin, new("sh*"), is_on="on")[0] == 200
    assert client.get(new("SH*"))["Location"] == f"{POLICIES}of/sh*/?lake=main"
    status, text = sent(people.admin, new("sh*"), is_on="off")
    assert (status, "reload the page" in text) == (409, True)
    text = page(people.admin, f"{POLICIES}of/sh*/")
    for words in ("Optimizer: on, inherited before", "shop.clicks", "1 table;", "to try it"):
        assert words in text, words


def test_the_list_is_filtered_by_its_address(people: People, row: IcebergTable) -> None:
    keep(people, "*", is_on=True)
    keep(people, "shop", manifests=5)
    keep(people, "shop.cl*", manifests=6)
    keep(people, "shop.clicks", quiet="01:00-02:00")
    for query, wanted in (
        ("?level=LAKE", ["*"]),
        ("?level=DATABASES", ["shop"]),
        ("?level=TABLES", ["shop.cl*"]),
        ("?level=TABLE", ["shop.clicks"]),
        ("?sets=manifests", ["shop", "shop.cl*"]),
        ("?scope=shop.&by=ada", ["shop.cl*", "shop.clicks"]),
        ("?by=nobody", []),
    ):
        answer: Any = client_of(people.admin).get(f"{POLICIES}{query}&format=csv")
        rows = csv.DictReader(StringIO(b"".join(answer).decode()))
        assert [one["scope"] for one in rows] == wanted, query


def test_the_tables_of_a_scope_are_those_that_it_fits(people: People, now: datetime) -> None:
    for db in ("etl", "etl2", "Shop", "a"):
        for table in ("events", "events_x", "Ev", "e?", "x.y"):
            iceberg(table, db=db, now=now)
    names = table_names(LAKE, people.admin)
    for scope in (
        *("*", "etl", "etl*", "*l2", "e?l", "etl.events", "etl.ev*", "e*.*s", "*.ev", "shop.e?"),
        *("a", "none", "?.*"),
    ):
        fits = {
            (row.db, row.table)
            for row in IcebergTable.objects.all()
            if Level(scope, {}).fits(row.db, row.table)
        }
        assert {(db, table) for db, table, _ in names.under(scope)} == fits, scope
        assert names.count(scope) == len(fits)


def test_many_scopes_and_tables_cost_as_few_questions_as_one(people: People, now: datetime) -> None:
    clients = {user: client_of(user) for user in (people.admin, people.owner)}

    def asked() -> list[int]:
        out = []
        for client in clients.values():
            for address in (POLICIES, WHOLE):
                with CaptureQueriesContext(connection) as caught:
                    assert client.get(address).status_code == 200
                out.append(len(caught))
        return out

    iceberg("first", now=now)
    keep(people, "*", is_on=True)
    before = asked()
    for n in range(30):
        iceberg(f"t{n}", now=now)
        keep(people, f"shop.t{n}*", manifests=5)
    assert asked() == before
    assert max(before) <= QUERIES_AT_MOST, before


def test_names_and_reasons_are_shown_as_text(people: People, now: datetime) -> None:
    evil = "<script>alert(1)</script>"
    row = iceberg(f"{evil}\"'", now=now)
    text = page(people.owner, tab(row))
    assert "<script>alert" not in text
    assert "it gets no policy of its own" in text
    assert sent(people.owner, tab(row), manifests="3")[0] == 400
    assert sent(people.admin, new("*"), is_on="on", reason=evil)[0] == 200
    for address in (WHOLE, POLICIES):
        text = page(people.admin, address)
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert" in text
    status, text = sent(people.admin, WHOLE, seen="1", layout=evil, quiet=evil, target_bytes=evil)
    assert status == 400
    assert "<script>alert" not in text
