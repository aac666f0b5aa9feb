"""What may enter a plan: locations nobody shares, and nothing that any circumstance protects."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from lifecycle.backup.domain.control import HoldRule
from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.drop.domain.plan import Coverage, PlanItem
from lifecycle.drop.domain.refusal import (
    Candidate,
    Circumstances,
    LeftOut,
    Name,
    Names,
    refusal,
)
from lifecycle.expiry.domain.rule import ExpiryClass

TODAY = date(2026, 11, 22)
ITEM = PlanItem(
    db="sales",
    table="orders",
    tbl_id=7,
    partition="dt=2026-08-01",
    part_id=70,
    location="file:///lake/sales/orders/dt=2026-08-01",
    level=1,
    ttl=60,
    policy_source="the table's own parameters",
    ddl_time=1_786_000_000,
    create_time=1_786_000_000,
    mtime_ms=1_786_000_000_500,
    updated_ms=1_786_000_000_501,
    n_files=3,
    n_bytes=300,
    due_on=date(2026, 10, 5),
)
DUE = Candidate(ITEM, ExpiryClass.CLEAN_NOW, is_ready=True)
TOLD = Coverage(
    tbl_id=7,
    level=1,
    ttl=60,
    horizon_on=TODAY,
    read_at=datetime(2026, 11, 1, tzinfo=UTC),
    as_of=datetime(2026, 11, 1, tzinfo=UTC),
    sent_on=TODAY - timedelta(days=7),
)
FREE = Circumstances(
    today=TODAY,
    modes={"sales": DatabaseMode.ACT},
    notice_days={"sales": 7},
    coverages={7: (TOLD,)},
)
TABLE = Name("sales", "orders")


def named(*names: Name) -> Names:
    return Names.of(names)


def test_what_nothing_protects_may_go() -> None:
    assert refusal(DUE, FREE) is None


@pytest.mark.parametrize("name", [Name("sales"), TABLE, Name("sales", "orders", ITEM.partition)])
def test_a_hold_on_the_item_its_table_or_its_database_keeps_it(name: Name) -> None:
    assert refusal(DUE, replace(FREE, holds=named(name))) is LeftOut.HELD
    assert refusal(DUE, replace(FREE, in_other_plans=named(name))) is LeftOut.IN_OTHER_PLAN
    assert refusal(DUE, replace(FREE, dropped=named(name))) is LeftOut.DROPPED


@pytest.mark.parametrize(
    "name", [Name("sal"), Name("sales", "order"), Name("sales", "orders", "x")]
)
def test_a_hold_on_something_else_does_not(name: Name) -> None:
    assert refusal(DUE, replace(FREE, holds=named(name))) is None


@pytest.mark.parametrize("hold", ["", "dt=1", "dt=10", "dt=1/h=2", "dt=1/h=20", "h=2"])
@pytest.mark.parametrize("partition", ["", "dt=1", "dt=1/h=2", "dt=1/h=2/m=3", "dt=10"])
def test_a_plan_reads_holds_as_a_running_drop_does(hold: str, partition: str) -> None:
    item = replace(ITEM, partition=partition)
    rule = HoldRule("sales", "orders", hold)
    covers = rule.covers("sales", "orders", partition, now=datetime(2026, 11, 22, tzinfo=UTC))
    assert named(Name("sales", "orders", hold)).hold(item) is covers


@pytest.mark.parametrize(
    ("candidate", "circumstances", "reason"),
    [
        (DUE, replace(FREE, modes={}), LeftOut.NOT_ACT_MODE),
        (DUE, replace(FREE, modes={"sales": DatabaseMode.NOTIFY}), LeftOut.NOT_ACT_MODE),
        (DUE, replace(FREE, coverages={}), LeftOut.NOT_ANNOUNCED),
        (DUE, replace(FREE, today=TODAY - timedelta(days=1)), LeftOut.NOT_ANNOUNCED),
        (DUE, replace(FREE, altered=named(TABLE)), LeftOut.TOUCHED),
        (replace(DUE, is_ready=False), FREE, LeftOut.UNREADY),
        (replace(DUE, cls=ExpiryClass.STILL_READ), FREE, LeftOut.STILL_READ),
        (replace(DUE, item=replace(ITEM, level=0)), FREE, LeftOut.KEEP_FOREVER),
    ],
)
def test_each_circumstance_keeps_it_with_its_reason(
    candidate: Candidate, circumstances: Circumstances, reason: LeftOut
) -> None:
    assert refusal(candidate, circumstances) is reason


def test_still_read_data_goes_only_with_its_owners_yes() -> None:
    read = replace(DUE, cls=ExpiryClass.STILL_READ)
    assert refusal(read, replace(FREE, consent_to_recently_read=named(TABLE))) is None


@pytest.mark.parametrize(
    "cls", sorted(set(ExpiryClass) - {ExpiryClass.CLEAN_NOW, ExpiryClass.STILL_READ})
)
def test_no_other_class_ever_enters_a_plan(cls: ExpiryClass) -> None:
    everything = replace(FREE, consent_to_recently_read=named(Name("sales")))
    assert refusal(replace(DUE, cls=cls), everything) is not None
