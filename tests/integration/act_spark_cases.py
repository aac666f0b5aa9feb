"""Drop and restore by spark-submit: the same whole way on every form of the stack."""

import uuid
from pathlib import Path

from tests.support.act_jobs import drop_params, finished, restore_params, start
from tests.support.act_lake import ActLake


def drop_and_restore_by_spark(lake: ActLake, tmp_path: Path) -> None:
    """Drop partitions and bring them back by two applications; all must be as before."""
    values = [(value,) for value in lake.odd_values]
    name = lake.make_table("spark_parts", keys=("dt",), values=values, file_format="parquet")
    before = lake.snapshot(name)
    run, restore = str(uuid.uuid4()), str(uuid.uuid4())
    params = drop_params(lake, name, run)
    log = tmp_path / "drop.log"
    job = start(lake.config, "lifecycle.jobs.drop", params, run=run, log=log)
    result = finished(*job, log)
    assert result["counts"] == {"DROPPED": len(values)}, result
    assert lake.metastore.partition_names(name) == []
    lake.seal(run)
    params = restore_params(lake, run, restore)
    log = tmp_path / "restore.log"
    job = start(lake.config, "lifecycle.jobs.restore", params, run=restore, log=log)
    result = finished(*job, log)
    assert result["counts"] == {"RESTORED": len(values)}, result
    lake.release(run, restore)
    after = lake.snapshot(name)
    assert after == before
