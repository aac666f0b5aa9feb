"""What the demo declares of its payments and its shop is such as the pages would take."""

import json
from datetime import date
from pathlib import Path
from typing import Any, cast

import pytest
from pymetastore.hive_metastore import ttypes

from pipelines.incremental.domain.definitions import check_layer, read_layer
from pipelines.materialized.domain.definition import read_definition
from portal.connectors.metastore import Metastore
from quality.checks.domain.documents import read_document
from quality.checks.domain.rules import Severity
from stack.lake import payments, shop_tables

TODAY = date(2026, 11, 23)


class Hive:
    """A metastore of one table."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.partitions: list[Any] = []

    def database(self, name: str) -> Any:
        return ttypes.Database(name=name, locationUri=f"file:{self.root}/{name}.db")

    def create_table(self, table: Any) -> None:
        assert table.owner == payments.OWNER

    def add_partitions(self, partitions: list[Any], **_: bool) -> None:
        self.partitions = partitions

    def partition_names(self, name: object) -> list[str]:
        return [f"dt={one.values[0]}" for one in self.partitions]

    def partitions_by_names(self, name: object, names: list[str]) -> list[Any]:
        return self.partitions

    def alter_partitions(self, name: object, partitions: list[Any]) -> None:
        pass


def lines(partition: Any) -> list[str]:
    folder = Path(partition.sd.location.removeprefix("file:"))
    return [line for one in sorted(folder.iterdir()) for line in one.read_text().splitlines()]


def test_the_last_day_of_payments_was_loaded_twice_until_it_is_mended(tmp_path: Path) -> None:
    hive = Hive(tmp_path)
    metastore = cast("Metastore", hive)
    payments.make_payments(metastore, today=TODAY)
    *before, last = hive.partitions
    assert len(before) == payments.N_DAYS - 1
    assert [one.values for one in hive.partitions if "commit" in one.parameters] == [["2026-11-22"]]
    assert all(len(lines(one)) == len(set(lines(one))) for one in before)
    n_rows = len(lines(last))
    assert len(set(lines(last))) * 2 == n_rows
    assert payments.mend(metastore) == ["dt=2026-11-22"]
    assert len(lines(last)) * 2 == n_rows
    assert last.parameters == {"numFiles": "1", "commit": "false"}, "a rule says that it is ready"
    assert payments.mend(metastore) == []


def test_its_rules_are_a_note_two_alarms_and_one_that_blocks() -> None:
    checks = read_document(json.dumps(payments.CHECKS))
    severities = [one.severity for one in checks.rules]
    assert sorted(severities) == ["alarm", "alarm", "block", "note"]
    blocking = [one.name for one in checks.rules if one.severity is Severity.BLOCK]
    assert blocking == [payments.BLOCKING]


@pytest.mark.parametrize("what", ["materialization", "layer"])
def test_what_is_made_of_the_shops_tables_is_accepted(what: str) -> None:
    if what == "layer":
        check_layer(read_layer(shop_tables.FACTS_LAYER))
        return
    found = read_definition(shop_tables.REVENUE_SQL)
    assert [one.name for one in found.keys] == ["day", "state"]
    assert [one.name for one in found.measures] == ["n_orders", "revenue", "dearest"]
