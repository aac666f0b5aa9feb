"""What real messages of Hive say of Iceberg tables, and what odd ones do not."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from optimizer.iceberg.tables.domain.events import TASK_KEY, Heard, heard, iceberg_table
from portal.events.names import former_name

RECORDED = Path(__file__).with_name("iceberg_events.json")
PLAIN = {"table_type": "ICEBERG", "metadata_location": "file:/lake/clicks/metadata/3.json"}


@pytest.fixture(scope="module")
def recorded() -> list[tuple[str, Heard | None]]:
    """What Spark 3.5 with Iceberg 1.11 did in a Hive Metastore 3.1.3, and what each event means."""
    rows: list[dict[str, Any]] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return [
        (
            row["does"],
            heard(
                row["type"],
                (row["db"], row["table"]),
                row["message"],
                former=former_name(row["message"]),
            ),
        )
        for row in rows
    ]


def test_recorded_commits_are_read_with_all_they_say(
    recorded: list[tuple[str, Heard | None]],
) -> None:
    (made, first, second, deleted) = (one for _, one in recorded[:4])
    assert made is not None
    assert made.after is not None
    assert (made.after.uuid[:8], made.after.owner, made.after.snapshot) == (
        "498d9461",
        "root",
        None,
    )
    assert made.after.partition_spec == "dt, day(at)"
    assert made.after.columns == {
        "id": "long",
        "who": "struct",
        "at": "timestamptz",
        "dt": "string",
    }
    snapshots = [one.after.snapshot for one in (first, second, deleted) if one and one.after]
    assert [
        (one.operation, one.n_added, one.n_files, one.n_bytes, one.n_rows, one.n_deletes_added)
        for one in snapshots
        if one is not None
    ] == [
        ("append", 1, 1, 2978, 1000, 0),
        ("append", 1, 2, 5955, 2000, 0),
        ("", 0, 2, 9600, 2000, 2),
    ]
    last = snapshots[-1]
    assert last is not None
    assert (last.n_delete_files, last.n_changed_partitions, last.is_ours) == (2, 2, False)
    assert last.at == datetime(2026, 11, 23, 0, 19, 10, 3000, tzinfo=UTC)


def test_recorded_changes_without_a_commit_are_read(
    recorded: list[tuple[str, Heard | None]],
) -> None:
    said = {does: one for does, one in recorded[4:] if one is not None}
    for does in ("add column", "set property"):
        after = said[does].after
        assert after is not None
        assert after.snapshot is not None
        assert after.snapshot.snapshot_id == 5859585096735693143, "that of the delete before"
    renamed = said["rename"]
    assert (renamed.table, renamed.former) == ("taps", ("rec", "clicks"))
    assert renamed.after is not None
    assert "more" in (renamed.after.columns or {})
    empty = said["create v3"].after
    assert empty is not None
    assert (empty.snapshot, empty.partition_spec) == (None, None)
    assert (said["drop"].after, said["drop"].gone_uuid[:8]) == (None, "498d9461")
    assert "create plain" not in said
    assert said["drop plain"].gone_uuid == ""


@pytest.mark.parametrize(
    "more",
    [
        {"current-snapshot-id": "-1"},
        {"current-snapshot-id": "many"},
        {"current-snapshot-id": str(2**70)},
        {},
    ],
)
def test_a_table_without_a_snapshot_is_a_table(more: dict[str, str]) -> None:
    found = iceberg_table(("shop", "clicks"), PLAIN | more)
    assert found is not None
    assert (found.snapshot, found.columns, found.partition_spec) == (None, None, None)


@pytest.mark.parametrize(
    "summary", ["", "{", "[]", "null", '{"total-data-files": "x"}', '{"total-data-files": null}']
)
def test_a_summary_that_cannot_be_read_leaves_the_plain_counts(summary: str) -> None:
    said = {
        "current-snapshot-id": "7",
        "current-snapshot-summary": summary,
        "numFiles": "3",
        "totalSize": "300",
        "numRows": "30",
        "current-snapshot-timestamp-ms": "9" * 30,
    }
    found = iceberg_table(("shop", "clicks"), PLAIN | said)
    assert found is not None
    snapshot = found.snapshot
    assert snapshot is not None
    assert (snapshot.n_files, snapshot.n_bytes, snapshot.n_rows) == (3, 300, 30)
    assert (snapshot.operation, snapshot.at, snapshot.is_ours) == ("", None, False)


@pytest.mark.parametrize(
    ("summary", "operation"),
    [
        ({"added-data-files": "1"}, "append"),
        ({"added-data-files": "1", "deleted-data-files": "1"}, ""),
        ({"added-data-files": "1", "added-delete-files": "1"}, ""),
        ({"deleted-data-files": "1"}, ""),
        ({}, ""),
    ],
)
def test_only_what_took_nothing_away_is_an_append(summary: dict[str, str], operation: str) -> None:
    said = {"current-snapshot-id": "7", "current-snapshot-summary": json.dumps(summary)}
    found = iceberg_table(("shop", "clicks"), PLAIN | said)
    assert found is not None
    assert found.snapshot is not None
    assert found.snapshot.operation == operation


def test_a_commit_of_ours_says_so() -> None:
    said = {
        "current-snapshot-id": "7",
        "current-snapshot-summary": json.dumps({TASK_KEY: "12", "total-data-files": "1"}),
    }
    found = iceberg_table(("shop", "clicks"), PLAIN | said)
    assert found is not None
    assert found.snapshot is not None
    assert found.snapshot.is_ours


@pytest.mark.parametrize(
    ("schema", "spec", "words"),
    [
        ("{", "{", ""),
        ('{"fields": 3}', '{"fields": [1, {"name": "dt"}]}', "dt"),
        (
            '{"fields": [{"id": 1, "name": "at", "type": "timestamp"}]}',
            '{"fields": [{"name": "at_day", "transform": "day", "source-id": 1},'
            ' {"name": "id_bucket", "transform": "bucket[16]", "source-id": 9}]}',
            "day(at), bucket[16](id_bucket)",
        ),
    ],
)
def test_a_spec_is_told_in_words(schema: str, spec: str, words: str) -> None:
    said = {"current-schema": schema, "default-partition-spec": spec}
    found = iceberg_table(("shop", "clicks"), PLAIN | said)
    assert found is not None
    assert found.partition_spec == words


@pytest.mark.parametrize(
    "parameters",
    [{}, {"table_type": "ICEBERG"}, {"metadata_location": "x"}, PLAIN | {"table_type": ""}],
)
def test_another_format_is_no_iceberg_table(parameters: dict[str, str]) -> None:
    assert iceberg_table(("shop", "clicks"), parameters) is None


@pytest.mark.parametrize("name", ["current-snapshot-summary", "current-schema"])
@pytest.mark.parametrize("text", ["[" * 4_000, '{"total-data-files": 1e999, "fields": 1e999}'])
def test_what_anybody_can_write_into_parameters_stops_no_reading(name: str, text: str) -> None:
    found = iceberg_table(
        ("shop", "clicks"), {**PLAIN, "current-snapshot-id": "7", name: text}, owner="o" * 767
    )
    assert found is not None
    assert found.snapshot is not None
    assert found.snapshot.n_files is None
    assert len(found.owner) == 128


@pytest.mark.parametrize("milliseconds", ["253402300799999", "-62135596800000", "9" * 18])
def test_an_instant_that_has_no_local_time_everywhere_is_not_told(milliseconds: str) -> None:
    told = {"current-snapshot-id": "7", "current-snapshot-timestamp-ms": milliseconds}
    found = iceberg_table(("shop", "clicks"), {**PLAIN, **told})
    assert found is not None
    assert found.snapshot is not None
    assert found.snapshot.at is None
