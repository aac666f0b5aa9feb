"""A drop and restores on a secured lake: by the portal's engine, and as Spark programs."""

import time
from pathlib import Path

from stack.kerberized_stack import KerberizedStack
from tests.integration.lifecycle.backup.act_spark_cases import drop_and_restore_by_spark
from tests.support.act_lake import ActLake


def test_everything_is_as_it_was_after_drop_and_restore(secured: KerberizedStack) -> None:
    lake = ActLake(secured.config(), f"engine{time.time_ns()}")
    name = lake.make_table("parts", keys=("dt",), values=[(value,) for value in lake.odd_values])
    before = lake.snapshot(name)
    run, result = lake.drop(name)
    assert result.as_dict()["counts"] == {"DROPPED": len(lake.odd_values)}
    assert lake.metastore.partition_names(name) == []
    lake.restore(run)
    assert lake.snapshot(name) == before


def test_spark_programs_drop_and_restore(secured: KerberizedStack, tmp_path: Path) -> None:
    drop_and_restore_by_spark(ActLake(secured.config(), f"spark{time.time_ns()}"), tmp_path)
