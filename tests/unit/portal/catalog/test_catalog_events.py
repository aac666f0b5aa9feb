"""Events become changes of the catalog: recorded messages of a real metastore, and odd ones."""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

import tests.unit.optimizer.iceberg.tables as recorded_beside
from portal.catalog.domain.entries import TableFacts
from portal.catalog.domain.events import created_instant, table_change, uuid_of
from portal.events.names import former_name

NAME = ("shop", "orders")
PARQUET = "org.apache.hadoop.hive.ql.io.parquet"
RECORDED = Path(str(recorded_beside.__file__)).with_name("iceberg_events.json")


def table(
    kind: str = "MANAGED_TABLE",
    *,
    place: str = "file:/lake/orders",
    more: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    return json.dumps(
        {
            "1": {"str": "orders"},
            "2": {"str": "shop"},
            "3": {"str": "olga"},
            "4": {"i32": 1_795_393_115},
            "7": {
                "rec": {
                    "2": {"str": place},
                    "3": {"str": f"{PARQUET}.MapredParquetInputFormat"},
                    "7": {"rec": {"2": {"str": f"{PARQUET}.serde.ParquetHiveSerDe"}}},
                }
            },
            "9": {"map": ["str", "str", 0, {}]},
            "12": {"str": kind},
            **more,
        }
    )


def test_recorded_events_of_an_iceberg_table_tell_its_making_its_rename_and_its_end() -> None:
    found = []
    for number, one in enumerate(json.loads(RECORDED.read_text(encoding="utf-8"))):
        message = one["message"]
        former = former_name(message) if one["type"] == "ALTER_TABLE" else None
        change = table_change(
            number, one["type"], (one["db"], one["table"]), message, former=former
        )
        found.append((one["does"], change))
    made = next(change for does, change in found if does == "create")
    assert made is not None
    assert made.after is not None
    assert made.is_created
    assert made.created_at is not None
    assert made.after.format == "iceberg"
    assert len(made.after.uuid) == 36
    assert made.after.owner == "root"
    assert made.after.location.endswith("/clicks")
    changed = [does for does, change in found if change is not None]
    # Commits, columns and properties change nothing that the catalog keeps.
    assert changed == ["create", "rename", "create v3", "drop", "create plain", "drop plain"]


def test_a_change_of_what_the_catalog_does_not_keep_is_none() -> None:
    before, after = table(), table(more={"9": {"map": ["str", "str", 1, {"numFiles": "9"}]}})
    message = {"tableObjBeforeJson": before, "tableObjAfterJson": after}
    assert table_change(1, "ALTER_TABLE", NAME, message) is None
    assert table_change(1, "ALTER_TABLE", NAME, message, former=("shop", "old")) is not None
    moved = {"tableObjBeforeJson": before, "tableObjAfterJson": table(place="file:/lake/new")}
    change = table_change(1, "ALTER_TABLE", NAME, moved)
    assert change is not None
    assert change.after == TableFacts("parquet", "", "file:/lake/new", "olga")
    assert not change.is_created
    assert change.created_at is None


@pytest.mark.parametrize(
    "text",
    [table("VIRTUAL_VIEW"), table("MATERIALIZED_VIEW"), table(more={"17": {"str": "spark"}})],
)
def test_views_and_tables_of_other_catalogs_are_no_tables(text: str) -> None:
    for kind in ("CREATE_TABLE", "DROP_TABLE"):
        assert table_change(1, kind, NAME, {"tableObjJson": text}) is None
    message = {"tableObjBeforeJson": text, "tableObjAfterJson": text}
    assert table_change(1, "ALTER_TABLE", NAME, message, former=("shop", "old")) is None


def test_a_drop_counts_whether_or_not_its_message_holds_the_table() -> None:
    for message in ({}, {"tableObjJson": table()}):
        change = table_change(1, "DROP_TABLE", NAME, message)
        assert change is not None
        assert change.after is None


def test_a_message_of_another_form_is_refused() -> None:
    for text in ("{", '{"7": {}}', "[]"):
        for kind, key in (("CREATE_TABLE", "tableObjJson"), ("ALTER_TABLE", "tableObjAfterJson")):
            with pytest.raises((ValueError, LookupError, TypeError, AttributeError)):
                table_change(1, kind, NAME, {key: text})
    assert table_change(1, "ALTER_TABLE", NAME, {}) is None


def test_only_iceberg_tables_have_a_uuid_and_absurd_times_are_not_told() -> None:
    assert uuid_of("iceberg", {"uuid": "x" * 40}) == "x" * 36
    assert uuid_of("parquet", {"uuid": "x"}) == uuid_of("iceberg", {}) == ""
    assert [created_instant(seconds) for seconds in (None, 0, -5, 10**12)] == [None] * 4
    assert isinstance(created_instant(1_795_393_115), datetime)
