"""Readers report what indexes dropped; the tab and the API show it by column and kind."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from optimizer.iceberg.tables.api.reports import MOST_BYTES
from optimizer.models import IcebergTable, IndexCoverage, IndexUse
from optimizer.usage.api import MOST_TABLES, MOST_USES
from portal.connectors.lake_config import LakeConfig
from portal.people.token_rules import TokenParams
from portal.people.tokens import token_make
from tests.component.conftest import People
from tests.component.optimizer.optimizer_rows import iceberg
from tests.component.portal.ui.table_rows import listed

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
ADDRESS = "/api/optimizer/v1/main/index-reports"
PAGE = "/tables/shop/clicks/indexes/?lake=main"
UUID = "6d5c1f5e-7c39-4d3b-9f0a-3e9d1f0c2b11"


@pytest.fixture
def table(lake: LakeConfig) -> IcebergTable:
    """A table of olga's with an index of id."""
    now = timezone.now()
    row = iceberg(now=now, uuid=UUID)
    listed("clicks", format="iceberg")
    IndexCoverage.objects.create(
        table=row, field_id=1, column="id", wanted="bloom", kinds="bloom", place=0, n_files=4,
        n_covered=4, n_refused=0, n_rows=100, n_bytes=1000, at=now,
    )  # fmt: skip
    return row


def use(column: str = "id", kind: str = "bloom", **values: int) -> dict[str, Any]:
    return {"column": column, "kind": kind, "plans": 1, "files": 3, "bytes": 3000, **values}


def body(*uses: dict[str, Any], uuid: str = UUID) -> dict[str, Any]:
    return {"tables": [{"table_uuid": uuid, "indexes": list(uses)}]}


def token_of(people: People, scope: str = "optimizer") -> str:
    wish = TokenParams("spark", (scope,), 9)
    return token_make("olga", wish, user=people.owner, now=timezone.now()).secret


def send(secret: str, said: Any, *, address: str = ADDRESS) -> Any:
    text = said if isinstance(said, str) else json.dumps(said)
    return Client(raise_request_exception=False).post(
        address,
        text,
        content_type="application/json",
        headers={"Authorization": f"Bearer {secret}"},
    )


def test_what_is_reported_is_summed_by_day_and_shown(people: People, table: IcebergTable) -> None:
    secret = token_of(people)
    keeper = Client()
    keeper.force_login(people.owner)
    assert "No reader has reported" in keeper.get(PAGE).content.decode()
    for _ in range(2):
        answer = send(secret, body(use(), use("nowhere"), use("id", "bitmap", plans=2)))
        assert (answer.status_code, answer.json()) == (
            200,
            {"taken": 2, "ignored": 1, "repeated": False},
        )
    bloom = IndexUse.objects.get(kind="bloom")
    assert (bloom.n_plans, bloom.n_files, bloom.n_bytes) == (2, 6, 6000)
    today = timezone.now().date()
    IndexUse.objects.create(
        table=table, column="id", kind="bloomrf", day=today - timedelta(days=20), n_plans=7,
        n_files=7, n_bytes=7, last_used_at=timezone.now() - timedelta(days=20),
    )  # fmt: skip
    IndexUse.objects.create(
        table=table, column="id", kind="bloomrf", day=today - timedelta(days=90), n_plans=7,
        n_files=7, n_bytes=7, last_used_at=timezone.now() - timedelta(days=90),
    )  # fmt: skip
    send(secret, body(use()))
    assert IndexUse.objects.filter(kind="bloomrf").count() == 1
    text = keeper.get(PAGE).content.decode()
    assert "Savings of the last 7 days" in text
    assert "bloomrf" in text
    said = keeper.get(f"/api/v1/optimizer/tables/{table.pk}/indexes/").json()
    assert [(one["kind"], one["n_plans"], one["n_files"]) for one in said["uses"]] == [
        ("bitmap", 4, 6),
        ("bloom", 3, 9),
        ("bloomrf", 0, 0),
    ]


def test_who_may_not_see_a_table_adds_nothing(people: People, table: IcebergTable) -> None:
    secret = token_of(people)
    unknown = send(secret, body(use(), uuid="00000000-0000-0000-0000-000000000001"))
    assert (unknown.status_code, unknown.json()) == (
        200,
        {"taken": 0, "ignored": 1, "repeated": False},
    )
    client = Client()
    client.force_login(people.stranger)
    answer = client.post(ADDRESS, json.dumps(body(use())), content_type="application/json")
    assert answer.json() == {"taken": 0, "ignored": 1, "repeated": False}
    assert send("wrong", body(use())).status_code == 401
    assert send(token_of(people, "refresh"), body(use())).status_code == 403
    assert Client().post(ADDRESS, "{}", content_type="application/json").status_code == 401
    assert not IndexUse.objects.exists()


@pytest.mark.parametrize(
    "said",
    [
        "",
        "[]",
        "{}",
        "{" * 3000,
        '{"tables": ' * 900 + "1" + "}" * 900,
        '{"tables": [{"table_uuid": "x", "indexes": []}]}',
        json.dumps(body({"column": "id"})),
        json.dumps(body(use(kind="magic"))),
        json.dumps(body(use(files=-1))),
        json.dumps(body(use(bytes=2**63))),
        json.dumps(body(use("x" * 600))),
        json.dumps(body(use("a\x00b"))),
        json.dumps(body(*[use()] * (MOST_USES + 1))),
        json.dumps({"tables": body()["tables"] * (MOST_TABLES + 1)}),
    ],
    ids=range(14),
)
def test_what_is_wrong_is_refused_and_nothing_is_kept(
    people: People, table: IcebergTable, said: str
) -> None:
    answer = send(token_of(people), said)
    assert (answer.status_code, answer.json()["code"]) == (400, "api.400")
    assert not IndexUse.objects.exists()


def test_other_refusals_say_why(people: People, table: IcebergTable) -> None:
    secret = token_of(people)
    moon = send(secret, body(use()), address=ADDRESS.replace("main", "moon"))
    assert (moon.status_code, moon.json()["code"]) == (404, "lake.unknown")
    large = send(secret, " " * (MOST_BYTES + 1))
    assert (large.status_code, large.json()["code"]) == (413, "optimizer.body")
