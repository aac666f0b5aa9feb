"""Tests policies that sort a table by a column of a table that its cubes join."""

from typing import Any

import pytest

from optimizer.core.domain.tasks import TaskKind
from optimizer.cubes.domain.states import CubeState
from optimizer.iceberg.indexing.selectors import wanted_of
from optimizer.iceberg.planner.services.maintainer import orders_of
from optimizer.models import Cube, CubeVersion, IcebergTable, OptimizeTask
from optimizer.policies.selectors.policies import policies_of
from optimizer.policies.services.policies import PolicyChange, policy_set
from portal.lake.errors import NotVisible, RuleViolation
from tests.component.conftest import People
from tests.component.optimizer.optimizer_rows import NOW, iceberg, task

JOIN = {"alias": "part", "table": "shop.part", "uuid": "p", "on": [["fact.lo_partkey", "p_key"]]}


@pytest.fixture
def fact(db: None) -> IcebergTable:
    return iceberg(
        "lineorder", columns={"lo_partkey": "int", "lo_quantity": "int", "odd.one": "int"}
    )


@pytest.fixture
def part(db: None) -> IcebergTable:
    return iceberg(
        "part", columns={"p_key": "int", "p_brand1": "string", "tags": "map<string, int>"}
    )


def declare(table: IcebergTable, *joins: dict[str, Any], name: str = "by_brand") -> Cube:
    cube = Cube.objects.create(table=table, name=name, created_by="olga", created_at=NOW)
    CubeVersion.objects.create(
        cube=cube,
        version=1,
        definition={"name": name, "joins": list(joins)},
        by="olga",
        at=NOW,
        reason="dashboards",
    )
    return cube


def change(**values: object) -> PolicyChange:
    return PolicyChange("main", "shop.lineorder", values, 0, "because")


def test_a_layout_may_name_a_column_of_a_declared_join(
    people: People, fact: IcebergTable, part: IcebergTable
) -> None:
    declare(fact, JOIN)
    policy_set(change(layout="hilbert(part.p_brand1,lo_quantity)"), user=people.owner, now=NOW)
    row = task(fact, layout="hilbert(part.p_brand1,lo_quantity)")
    (order,) = orders_of("main", OptimizeTask.objects.filter(pk=row.pk), now=NOW)
    assert order["layout"] == "hilbert(part.p_brand1,lo_quantity)"
    assert order["joins"] == [JOIN]


@pytest.mark.parametrize(
    ("layout", "code", "says"),
    [
        ("sort(supplier.s_city)", "layout.join", r"declared: part\)"),
        ("sort(part.gone)", "layout.missing", r"shop\.part has no column gone"),
        ("sort(part.tags)", "layout.type", r"part\.tags \(map"),
        ("sort(gone)", "layout.missing", "gone, which the table does not have"),
    ],
)
def test_columns_that_cannot_order_rows_are_refused(
    people: People, fact: IcebergTable, part: IcebergTable, layout: str, code: str, says: str
) -> None:
    declare(fact, JOIN)
    with pytest.raises(RuleViolation, match=says) as refused:
        policy_set(change(layout=layout), user=people.owner, now=NOW)
    assert refused.value.code == code


def test_a_column_of_the_table_with_a_dot_in_its_name_needs_no_join(
    people: People, fact: IcebergTable
) -> None:
    policy_set(change(layout="sort(odd.one)"), user=people.owner, now=NOW)
    row = task(fact, layout="sort(odd.one)")
    (order,) = orders_of("main", OptimizeTask.objects.filter(pk=row.pk), now=NOW)
    assert order["joins"] == []


def test_a_joined_table_that_a_person_may_not_see_is_not_told_of(
    people: People, fact: IcebergTable, part: IcebergTable
) -> None:
    declare(fact, JOIN)
    IcebergTable.objects.filter(pk=part.pk).update(owner="other")
    with pytest.raises(NotVisible, match=r"no Iceberg table shop\.part for you") as refused:
        policy_set(change(layout="sort(part.p_brand1)"), user=people.owner, now=NOW)
    assert refused.value.code == "layout.table"
    policy_set(change(layout="sort(part.p_brand1)"), user=people.admin, now=NOW)


def test_a_dropped_cube_declares_no_join_any_more(
    people: People, fact: IcebergTable, part: IcebergTable
) -> None:
    cube = declare(fact, JOIN)
    policy_set(change(layout="sort(part.p_brand1)"), user=people.owner, now=NOW)
    row = task(fact, layout="sort(part.p_brand1)")
    Cube.objects.filter(pk=cube.pk).update(state=CubeState.PAUSED)
    orders = OptimizeTask.objects.filter(pk=row.pk)
    assert orders_of("main", orders, now=NOW)[0]["joins"] == [JOIN]
    Cube.objects.filter(pk=cube.pk).update(state=CubeState.DROPPED, is_there=None)
    assert orders_of("main", orders, now=NOW)[0]["joins"] == []
    with pytest.raises(RuleViolation, match=r"declared: none\)"):
        policy_set(
            PolicyChange("main", "shop.lineorder", {"layout": "sort(part.p_key)"}, 1, "again"),
            user=people.owner,
            now=NOW,
        )


def test_an_index_on_a_joined_column_is_one_on_the_foreign_key(
    people: People, fact: IcebergTable, part: IcebergTable
) -> None:
    cube = declare(fact, JOIN)
    wanted = ["part.p_brand1:bloom", "lo_quantity", "lo_partkey:bloom:12", "part.p_key"]
    policy_set(change(index_columns=wanted), user=people.owner, now=NOW)
    row = task(fact, kind=TaskKind.INDEX)
    orders = OptimizeTask.objects.filter(pk=row.pk)
    assert orders_of("main", orders, now=NOW)[0]["index_columns"] == [
        "lo_quantity",
        "lo_partkey:bloom:12",
        "lo_partkey",
    ]
    policy = policies_of("main").of("shop", "lineorder").policy
    assert list(map(str, policy.index_columns)) == wanted
    assert {one.column for one in wanted_of(fact, policy)} == {"lo_quantity", "lo_partkey"}
    Cube.objects.filter(pk=cube.pk).update(state=CubeState.DROPPED, is_there=None)
    assert "part.p_brand1:bloom" in orders_of("main", orders, now=NOW)[0]["index_columns"]


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ("supplier.s_city", "index.join"),
        ("part.gone", "index.missing"),
        ("part.p_brand1:ngram_bloom", "index.kind"),
    ],
)
def test_an_index_that_a_foreign_key_cannot_have_is_refused_at_its_field(
    people: People, fact: IcebergTable, part: IcebergTable, wanted: str, code: str
) -> None:
    declare(fact, JOIN)
    with pytest.raises(RuleViolation) as refused:
        policy_set(change(index_columns=[wanted]), user=people.owner, now=NOW)
    assert refused.value.code == code
    assert refused.value.fields["policy_fields"] == ["index_columns"]
