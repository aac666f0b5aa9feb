"""Restore tests: choosing a sample, when one is due, how old a proof may be, comparing."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.inventory.jobs.tables import build_catalog
from lifecycle.restore_tests.domain import (
    BackedUp,
    Compared,
    Proof,
    RestoreTestState,
    VerificationStatus,
    choose_items,
    choose_tables,
    fact_differences,
    is_due,
    lot,
    mark_of,
    read_scratch,
    restore_test_state,
    scratch_database,
    shortened,
    struct_differences,
    verification_status,
)
from portal.lake.ids import LakeId
from tests.support.lakes import local_lake

DAY = date(2026, 11, 22)
NOW = datetime(2026, 11, 22, 6, tzinfo=UTC)
WEEK = timedelta(days=7)
Facts = dict[str, dict[str, object]]
names = st.sampled_from(["a", "b", "c", "d", "e"])
tables = st.lists(st.builds(BackedUp, db=names, table=names), max_size=25)
days = st.dates(date(2026, 1, 1), date(2027, 1, 1))
ages = st.dictionaries(
    st.builds(BackedUp, db=names, table=names),
    st.integers(0, 400).map(lambda n: NOW - timedelta(days=n)),
)


@given(tables=tables, proven=ages, day=days, most=st.integers(0, 30))
def test_a_sample_is_bounded_known_and_the_same_for_all_who_draw_it(
    tables: list[BackedUp], proven: dict[BackedUp, datetime], day: date, most: int
) -> None:
    chosen = choose_tables(tables, proven=proven, day=day, most=most)
    assert len(chosen) == min(most, len(set(tables)))
    assert len(set(chosen)) == len(chosen)
    assert set(chosen) <= set(tables)
    assert chosen == choose_tables(tables[::-1], proven=proven, day=day, most=most)


@given(tables=tables, proven=ages, day=days, most=st.integers(1, 30))
def test_no_database_gets_a_second_turn_before_each_had_one_and_the_oldest_comes_first(
    tables: list[BackedUp], proven: dict[BackedUp, datetime], day: date, most: int
) -> None:
    chosen = choose_tables(tables, proven=proven, day=day, most=most)
    counts = [sum(one.db == db for one in chosen) for db in {one.db for one in tables}]
    first = [one.db for one in chosen]
    if most < len({one.db for one in tables}):
        assert max(counts, default=0) <= 1
        left_out = {one.db for one in tables} - set(first)

        def newest(db: str) -> datetime:
            known = [proven[one] for one in tables if one.db == db and one in proven]
            return max(known, default=datetime.min.replace(tzinfo=UTC))

        assert all(newest(db) <= newest(other) for db in first for other in left_out)
    else:
        assert min(counts, default=1) >= 1


def test_every_table_has_its_turn_in_time() -> None:
    all_tables = [BackedUp(db, table) for db in "abc" for table in "vwxyz"]
    proven: dict[BackedUp, datetime] = {}
    for week in range(8):
        day = DAY + week * WEEK
        for one in choose_tables(all_tables, proven=proven, day=day, most=2):
            proven[one] = NOW + week * WEEK
    assert set(proven) == set(all_tables)


@given(
    sizes=st.dictionaries(st.text(max_size=3), st.integers(0, 100), max_size=20),
    day=days,
    most_items=st.integers(0, 10),
    most_bytes=st.integers(0, 300),
)
def test_items_keep_within_both_caps_and_leave_nothing_out_that_fits(
    sizes: dict[str, int], day: date, most_items: int, most_bytes: int
) -> None:
    chosen = choose_items(sizes, day=day, most_items=most_items, most_bytes=most_bytes)
    spent = sum(sizes[one] for one in chosen)
    assert len(chosen) == len(set(chosen)) <= most_items
    assert spent <= most_bytes
    if len(chosen) < most_items:
        assert all(sizes[one] > most_bytes - spent for one in sizes.keys() - set(chosen))


def test_lots_differ_by_day_and_name() -> None:
    assert lot(DAY, "a", "b") == lot(DAY, "a", "b")
    assert len({lot(DAY, "a", "b"), lot(DAY, "ab"), lot(DAY + WEEK, "a", "b")}) == 3


def test_a_drill_is_due_when_its_days_are_over_and_stays_at_its_hour() -> None:
    assert is_due(None, now=NOW, every=WEEK)
    assert is_due(NOW - WEEK + timedelta(hours=1), now=NOW, every=WEEK)
    assert not is_due(NOW - WEEK + timedelta(days=1), now=NOW, every=WEEK)


def test_a_proof_is_judged_by_its_age_and_by_what_came_after_it() -> None:
    def judged(
        since: int, proven: int | None = None, failed: int | None = None
    ) -> VerificationStatus:
        def ago(days: int | None) -> datetime | None:
            return None if days is None else NOW - timedelta(days=days)

        proof = Proof(DAY - timedelta(days=since), ago(proven), ago(failed))
        return verification_status(proof, now=NOW, lasts=timedelta(days=30))

    assert judged(30) is VerificationStatus.WAITING
    assert judged(31) is VerificationStatus.OVERDUE
    assert judged(90, proven=30) is VerificationStatus.PROVEN
    assert judged(90, proven=31) is VerificationStatus.OVERDUE
    assert judged(90, proven=3, failed=5) is VerificationStatus.PROVEN
    assert judged(90, proven=5, failed=3) is VerificationStatus.FAILED
    assert judged(90, proven=5, failed=5) is VerificationStatus.FAILED
    assert judged(1, failed=50) is VerificationStatus.FAILED


def test_a_drill_that_compared_nothing_or_ended_early_proves_nothing() -> None:
    good, bad, left = Compared.PROVEN, Compared.DIFFERS, Compared.SKIPPED
    assert restore_test_state([good, left], is_whole=True) is RestoreTestState.PROVEN
    assert restore_test_state([good], is_whole=False) is RestoreTestState.INCOMPLETE
    assert restore_test_state([left], is_whole=True) is RestoreTestState.INCOMPLETE
    assert restore_test_state([], is_whole=True) is RestoreTestState.INCOMPLETE
    assert restore_test_state([good, bad], is_whole=False) is RestoreTestState.FAILED


@given(run=st.uuids(), epoch=st.integers(1, 999_999))
def test_a_scratch_database_is_known_again_by_its_name(run: UUID, epoch: int) -> None:
    name = scratch_database(str(run), epoch)
    assert read_scratch(name) == (run.hex, epoch)
    assert mark_of("us", str(run), epoch) == f"us/{run.hex}/{epoch}"


def test_other_databases_are_nobodys_scratch() -> None:
    for name in ("sales", "lakewarden_drill_1", "x" + scratch_database("0" * 32, 1)):
        assert read_scratch(name) is None


def test_the_scan_leaves_out_a_scratch_that_lies_where_only_the_portal_writes(
    tmp_path: Path,
) -> None:
    config = local_lake(tmp_path, LakeId("main"))
    (root,) = config.backup_roots
    own, other = (scratch_database(str(UUID(int=n)), 1) for n in (1, 2))
    places = {
        "sales": f"file:{tmp_path}/sales",
        own: f"{root}/drills/{UUID(int=1)}/1/database",
        other: f"file:{tmp_path}/drills/other",
    }
    databases: Any = [{"db": db, "owner": "", "location": at} for db, at in places.items()]
    tables: Any = [{"db": own, "tbl": "t1"}]
    catalog = build_catalog(
        databases, tables, {}, config=config, params={"backup_roots": [root]}, today=DAY
    )
    assert sorted(one.name for one in catalog.databases) == sorted(("sales", other))
    assert catalog.tables == ()


def test_files_that_lack_are_too_many_or_other_are_named() -> None:
    expected: Facts = {"a": {"size": 1, "mode": "0644"}, "b": {"size": 2}}
    assert fact_differences(expected, dict(expected)) == []
    found: Facts = {"a": {"size": 9, "mode": "0644"}, "c": {"size": 3}}
    assert fact_differences(expected, found) == [
        "b is missing",
        "c is not in the manifest",
        "a: its size was 1, now it is 9",
    ]


def test_metadata_is_compared_field_by_field_but_for_what_cannot_be_equal() -> None:
    before = {
        "createTime": 1,
        "owner": "alice",
        "sd": {"cols": [{"name": "id", "type": "bigint"}], "bucketCols": None, "id": 3},
        "parameters": {"TTL": "60", "transient_lastDdlTime": "1", "lakewarden.x": "y"},
    }
    after = {
        "createTime": 2,
        "owner": "alice",
        "sd": {"cols": [{"name": "id", "type": "bigint"}], "bucketCols": [], "id": 3},
        "parameters": {"TTL": "60", "lakewarden.generation": "1"},
    }
    assert struct_differences(before, after) == []
    after["sd"] = {"cols": [{"name": "id", "type": "int"}], "id": 4}
    after["parameters"] = {"LEVEL": "1"}
    assert struct_differences(before, after) == [
        "parameters.LEVEL was None, came back as '1'",
        "parameters.TTL was '60', came back as None",
        "sd.cols 1.type was 'bigint', came back as 'int'",
        "sd.id was 3, came back as 4",
    ]
    assert struct_differences([1], [1, 2]) == ["it was [1], came back as [1, 2]"]


def test_many_sentences_are_shortened() -> None:
    assert shortened(["a", "b"], most=2) == ["a", "b"]
    assert shortened(["a", "b", "c"], most=1) == ["a", "and 2 more"]
