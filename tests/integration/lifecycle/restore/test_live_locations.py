"""Whatever a location's spelling, a purge knows what lives under a backup; read by real JDBC."""

import uuid

import pytest
from pyspark.sql import SparkSession

from lifecycle.restore.jobs.live_locations import live_locations_under
from stack.stack import Stack
from tests.support.act_lake import ActLake

pytestmark = pytest.mark.spark

# A day each: the location that is registered, and whether it lives in that day's backups.
SPELLINGS = {
    "2026-11-01": ("{root}/2026-11-01/sealed/r/1/b0000001-i000", True),
    "2026-11-02": ("{root}/2026-11-02", True),
    "2026-11-03": ("{root}//2026-11-03/x", True),
    "2026-11-04": ("{root.path}/2026-11-04/x", True),
    "2026-11-05": ("{root}/y/../2026-11-05/x", True),
    "2026-11-06": ("{root}/2026-11-061/x", False),
    "2026-11-07": ("{wild}/2026-11-07/x", False),
    "2026-11-08": ("{base}/other/dt=2026-11-08", False),
}


def test_a_location_under_a_backup_is_found_in_any_spelling(
    spark: SparkSession, embedded_stack: Stack
) -> None:
    lake = ActLake(embedded_stack.config("main"), uuid.uuid4().hex[:8])
    root, wild = lake.base.child("_back%ups"), lake.base.child("Xback and ups")
    texts = {
        day: text.format(root=root, wild=wild, base=lake.base)
        for day, (text, _) in SPELLINGS.items()
    }
    name = lake.make_table("t", keys=("day",), values=[(day,) for day in texts])
    parts = lake.metastore.partitions_by_names(name, [f"day={day}" for day in texts])
    for part in parts:
        part.sd.location = texts[part.values[0]]
    lake.metastore.alter_partitions(name, parts)
    days = {day: root.child(day) for day in texts}
    assert live_locations_under(spark, lake.config, days.values()) == {
        days[day]: texts[day] for day, (_, is_live) in SPELLINGS.items() if is_live
    }
    lake.metastore.close()
