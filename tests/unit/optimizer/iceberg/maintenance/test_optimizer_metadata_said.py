"""A metadata file is read as Iceberg writes it; what it does not say asks for nothing more."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from optimizer.iceberg.maintenance.domain.expiry import RefFact, Retention
from optimizer.iceberg.tables.domain.table_metadata import ReportedMetadata
from portal.lake.errors import RuleViolation

DAY_MS = 24 * 3600 * 1000


def said(**values: Any) -> ReportedMetadata:
    snapshot = {"snapshot-id": 2**62, "timestamp-ms": DAY_MS, "manifest-list": "file:/a/snap.avro"}
    staged = {"snapshot-id": 5, "parent-snapshot-id": 2**62, "timestamp-ms": 2 * DAY_MS}
    fields = {
        "table-uuid": "u",
        "current-snapshot-id": 2**62,
        "snapshots": [snapshot, staged | {"summary": {"wap.id": "w"}}],
        "refs": {"main": {"snapshot-id": 2**62, "type": "branch"}},
        "properties": {},
        "metadata-log": [{"metadata-file": "file:/a/1.json", "timestamp-ms": 1}],
        "statistics": [{"snapshot-id": 5, "statistics-path": "f", "file-size-in-bytes": 7}],
        **values,
    }
    return ReportedMetadata.read(json.dumps(fields))


def test_snapshots_refs_and_files_are_read() -> None:
    found = said()
    first, second = found.snapshots
    assert (first.snapshot_id, first.parent_id, first.is_staged) == (2**62, None, False)
    assert (second.parent_id, second.is_staged) == (2**62, True)
    assert first.at == datetime(1970, 1, 2, tzinfo=UTC)
    assert found.refs == (RefFact("main", 2**62, is_branch=True),)
    assert found.manifest_lists == {2**62: "file:/a/snap.avro"}
    assert [one.n_bytes for one in found.statistics] == [7]
    assert found.metadata_log == ("file:/a/1.json",)
    assert found.may_collect
    assert found.retention(expire_days=7, keep_snapshots=2) == Retention(7, 2)


def test_an_empty_table_says_little() -> None:
    found = ReportedMetadata.read('{"table-uuid": "u", "current-snapshot-id": -1}')
    assert (found.snapshot_id, found.snapshots, found.refs) == (None, (), ())


def test_the_tables_own_retention_is_heard() -> None:
    found = said(
        properties={
            "gc.enabled": "FALSE",
            "history.expire.min-snapshots-to-keep": "9",
            "history.expire.max-snapshot-age-ms": str(20 * DAY_MS),
            "history.expire.max-ref-age-ms": str(3 * DAY_MS),
        },
        refs={
            "main": {"snapshot-id": 2**62, "type": "branch", "max-ref-age-ms": 1},
            "old": {"snapshot-id": 2**62, "type": "tag"},
            "kept": {"snapshot-id": 2**62, "type": "tag", "max-ref-age-ms": 2**63 - 1},
            "b": {"snapshot-id": 5, "type": "branch", "min-snapshots-to-keep": 3},
        },
    )
    assert not found.may_collect
    kept = found.retention(expire_days=7, keep_snapshots=2)
    assert (kept.newest, kept.age) == (9, timedelta(days=20))
    assert found.lapsed_refs(datetime(1970, 1, 5, tzinfo=UTC)) == ["old"]
    assert found.lapsed_refs(datetime(1970, 1, 6, tzinfo=UTC)) == ["b", "old"]
    assert {one.name: one.min_snapshots for one in found.refs}["b"] == 3


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"table-uuid": "u", "snapshots": [{}]}', "1"])
def test_what_iceberg_does_not_write_is_refused(text: str) -> None:
    with pytest.raises(RuleViolation) as refused:
        ReportedMetadata.read(text)
    assert refused.value.code == "removal.metadata"


@pytest.mark.parametrize("value", ["never", "-5", "", str(2**63 - 1), str(10**30)])
def test_an_odd_age_of_the_table_never_lets_more_go(value: str) -> None:
    found = said(properties={"history.expire.max-snapshot-age-ms": value})
    assert found.retention(expire_days=7, keep_snapshots=2).age >= timedelta(days=7)
