"""Files that a run writes into tables are for their readers, all others for the portal alone."""

from pathlib import Path

import pytest

from portal.lake.ids import LakeId
from portal.runs.kinds import all_kinds
from portal.spark.launch import submit_argv
from tests.support.lakes import local_lake

UMASK = "spark.hadoop.fs.permissions.umask-mode=077"
WRITING = {"optimize", "optimizer.remove", "hudi_services", "hudi_remove"}


@pytest.mark.parametrize("writes_tables", [False, True])
def test_what_a_run_writes_is_private_unless_it_goes_into_tables(
    writes_tables: bool, tmp_path: Path
) -> None:
    argv = submit_argv(
        module="m",
        tag="t",
        spool="s",
        config=local_lake(tmp_path, LakeId("main")),
        log_file=tmp_path / "log",
        writes_tables=writes_tables,
    )
    assert (UMASK in argv) is not writes_tables


def test_the_runs_that_write_tables_are_those_of_the_optimizer() -> None:
    assert {kind.name for kind in all_kinds() if kind.writes_tables} == WRITING
