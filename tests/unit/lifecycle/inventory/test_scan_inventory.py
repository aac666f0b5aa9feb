"""A metastore that shows half of yesterday stops the scan, unless a person took that for true."""

import json
from pathlib import Path

import pytest

from lifecycle.inventory.jobs.plausibility import Inventory, check_inventory
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure
from portal.lake.ids import LakeId
from tests.support.lakes import local_lake

HALF = {"databases": 2, "tables": 50, "partitions": 500}


@pytest.fixture
def lake(tmp_path: Path) -> LakeConfig:
    return local_lake(tmp_path, LakeId("main"))


@pytest.fixture
def previous(tmp_path: Path) -> str:
    """The last good scan: 4 databases, 90 tables, 10 views, 1,000 partitions."""
    counts = {"n_databases": 4, "n_tables": 90, "n_views": 10, "n_partitions": 1_000}
    (tmp_path / "manifest.json").write_text(json.dumps({"result": counts}), encoding="utf-8")
    return (tmp_path / "results").as_uri()


def seen(databases: int = 4, tables: int = 100, partitions: int = 1_000) -> Inventory:
    return Inventory(databases, tables, partitions)


@pytest.mark.parametrize("now", [seen(2), seen(tables=50), seen(partitions=500), seen(0, 0, 0)])
def test_half_or_less_stops_the_scan_and_names_both_counts(
    lake: LakeConfig, previous: str, now: Inventory
) -> None:
    with pytest.raises(ExternalFailure) as caught:
        check_inventory(now, previous, config=lake)
    error = caught.value
    assert (error.code, error.retryable) == ("scan.inventory_shrank", False)
    assert "an admin accepts it on this run's page" in error.message
    assert (error.fields["partitions_before"], error.fields["partitions_now"]) == (
        1_000,
        now.n_partitions,
    )


@pytest.mark.parametrize("now", [seen(3, 51, 501), seen(9, 900, 9_000)])
def test_more_than_half_goes_on(lake: LakeConfig, previous: str, now: Inventory) -> None:
    check_inventory(now, previous, config=lake)


def test_the_first_scan_and_one_whose_last_spool_is_gone_go_on(
    lake: LakeConfig, tmp_path: Path
) -> None:
    check_inventory(seen(0, 0, 0), None, config=lake)
    check_inventory(seen(0, 0, 0), (tmp_path / "gone" / "results").as_uri(), config=lake)


def test_what_was_accepted_goes_on_and_half_of_that_stops_again(
    lake: LakeConfig, previous: str
) -> None:
    check_inventory(seen(2, 50, 500), previous, config=lake, accepted=HALF)
    check_inventory(seen(2, 50, 251), previous, config=lake, accepted=HALF)
    with pytest.raises(ExternalFailure):
        check_inventory(seen(2, 50, 250), previous, config=lake, accepted=HALF)
    with pytest.raises(ExternalFailure):
        check_inventory(seen(1, 50, 500), previous, config=lake, accepted=HALF)
