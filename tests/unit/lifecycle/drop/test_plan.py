"""A plan's lines, digest and notices: what was approved is what is read back, byte by byte."""

import hashlib
from collections import defaultdict
from dataclasses import asdict, fields, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.drop.domain.plan import (
    Coverage,
    PlanDigest,
    PlanItem,
    canonical_line,
    days_kept,
    is_announced,
    plan_digest,
    read_line,
)
from portal.lake.errors import RuleViolation

ITEM = PlanItem(
    db="sales",
    table="orders",
    tbl_id=7,
    partition="dt=2026-08-01",
    part_id=70,
    location="file:///lake/user/alice/sales.db/orders/dt=2026-08-01",
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
names = st.text(alphabet="ab_", min_size=1, max_size=2)
items = st.builds(
    replace,
    st.just(ITEM),
    db=names,
    table=names,
    partition=st.one_of(st.just(""), st.text(max_size=6).map(lambda value: f"k={value}")),
    location=st.text(max_size=10).map(lambda tail: f"file:///{tail}"),
    ddl_time=st.one_of(st.none(), st.integers(0, 2**31)),
    n_bytes=st.integers(0, 2**53),
    updated_ms=st.integers(0, 2**42),
    due_on=st.dates(),
)
item_lists = st.lists(items, max_size=12, unique_by=lambda item: item.key)


@given(items)
def test_an_item_survives_being_written_and_read(item: PlanItem) -> None:
    line = canonical_line(item)
    assert read_line(line) == item
    assert "\n" not in line


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[]",
        "{}",
        canonical_line(ITEM) + " ",
        canonical_line(ITEM).replace('":', '": '),
        canonical_line(ITEM).replace('"ttl":60', '"ttl":60,"ttl":60'),
        canonical_line(ITEM).replace('"ttl":60,', ""),
        canonical_line(ITEM).replace("2026-10-05", "soon"),
    ],
)
def test_any_other_spelling_of_a_line_is_refused(line: str) -> None:
    with pytest.raises(RuleViolation) as caught:
        read_line(line)
    assert caught.value.code == "plan.line"


@given(item_lists)
def test_the_digest_is_the_sha256_of_the_file_and_of_each_tables_lines(
    unsorted: list[PlanItem],
) -> None:
    builder = PlanDigest()
    by_table: defaultdict[tuple[str, str], list[PlanItem]] = defaultdict(list)
    content = b""
    for item in sorted(unsorted, key=lambda item: item.key):
        content += builder.add(item)
        by_table[item.db, item.table].append(item)
    summary = builder.finish()

    assert summary.digest == hashlib.sha256(content).hexdigest()
    assert [(table.db, table.table) for table in summary.tables] == sorted(by_table)
    assert summary.n_items == len(unsorted)
    assert summary.n_bytes == sum(item.n_bytes for item in unsorted)
    for table in summary.tables:
        mine = by_table[table.db, table.table]
        text = "".join(canonical_line(item) + "\n" for item in mine)
        assert table.digest == hashlib.sha256(text.encode()).hexdigest()
        assert (table.n_items, table.n_bytes) == (len(mine), sum(item.n_bytes for item in mine))
        assert table.oldest_updated_ms == min(item.updated_ms for item in mine)
        assert table.newest_updated_ms == max(item.updated_ms for item in mine)


CHANGED = {
    str: "other",
    int: 12345,
    date: date(2030, 1, 1),
}


@pytest.mark.parametrize("name", [spec.name for spec in fields(PlanItem)])
def test_every_fact_of_an_item_is_covered_by_the_digest(name: str) -> None:
    changed = PlanItem(**asdict(ITEM) | {name: CHANGED[type(getattr(ITEM, name))]})
    assert digest_of(changed) != digest_of(ITEM)


def digest_of(item: PlanItem) -> str:
    builder = PlanDigest()
    builder.add(item)
    return builder.finish().digest


def test_items_out_of_order_or_twice_are_refused() -> None:
    builder = PlanDigest()
    builder.add(ITEM)
    for item in [ITEM, replace(ITEM, partition="dt=2026-07-01")]:
        with pytest.raises(RuleViolation) as caught:
            builder.add(item)
        assert caught.value.code == "plan.order"


def test_an_empty_plan_has_the_digest_of_an_empty_file() -> None:
    summary = PlanDigest().finish()
    assert (summary.digest, summary.tables) == (hashlib.sha256().hexdigest(), ())


CREATED = datetime.fromtimestamp(ITEM.create_time, tz=UTC)
SENT = date(2026, 10, 1)
COVERAGE = Coverage(
    tbl_id=7,
    level=1,
    ttl=60,
    horizon_on=date(2026, 10, 8),
    read_at=CREATED + timedelta(seconds=1),
    as_of=datetime(2026, 10, 1, tzinfo=UTC),
    sent_on=SENT,
)


def test_an_item_told_of_long_enough_ago_is_announced() -> None:
    assert is_announced(ITEM, [COVERAGE], SENT + timedelta(days=7), 7)


@pytest.mark.parametrize(
    ("item", "coverage", "days"),
    [
        (ITEM, COVERAGE, 6),
        (ITEM, replace(COVERAGE, tbl_id=8), 7),
        (replace(ITEM, ttl=30), COVERAGE, 7),
        (replace(ITEM, level=0), COVERAGE, 7),
        (replace(ITEM, due_on=date(2026, 10, 9)), COVERAGE, 7),
        (ITEM, replace(COVERAGE, read_at=CREATED), 7),
        (replace(ITEM, updated_ms=ITEM.updated_ms + 100 * 86_400_000), COVERAGE, 7),
    ],
    ids=[
        "too early",
        "other table",
        "other ttl",
        "other level",
        "later due",
        "newer",
        "written since",
    ],
)
def test_what_the_notice_did_not_say_is_not_announced(
    item: PlanItem, coverage: Coverage, days: int
) -> None:
    assert not is_announced(item, [coverage], SENT + timedelta(days=days), 7)


def test_one_good_coverage_of_several_is_enough() -> None:
    others = [
        replace(COVERAGE, tbl_id=8),
        COVERAGE,
        replace(COVERAGE, sent_on=SENT + timedelta(days=3)),
    ]
    assert is_announced(ITEM, others, SENT + timedelta(days=7), 7)
    assert not is_announced(ITEM, [], SENT + timedelta(days=7), 7)


def test_what_is_approved_covers_the_items_where_they_are_kept_and_how_long() -> None:
    terms: dict[str, Any] = {"backup_root": "hdfs://lake/backup", "keep_days": {"a": 15, "b": 30}}
    digest = plan_digest("0" * 64, **terms)
    assert digest == plan_digest("0" * 64, **terms | {"keep_days": {"b": 30, "a": 15}})
    for other in ({"backup_root": "hdfs://lake/other"}, {"keep_days": {"a": 15, "b": 29}}):
        assert digest != plan_digest("0" * 64, **terms | other)
    assert digest != plan_digest("1" * 64, **terms)


def test_backups_are_kept_as_long_as_was_approved_or_longer() -> None:
    assert days_kept({"a": 30, "b": 15}, {"a": 15, "b": 20}) == {"a": 30, "b": 20}
    assert days_kept({"a": 30}, {}) == {"a": 30}
