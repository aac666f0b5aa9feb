"""Files that runs write into a table are read by the table's group, with the cluster's umask.

An account of the group owns the tables, another one reads them, and the portal compacts them.
"""

import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

from portal.connectors.filesystem import open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.lake.paths import LakePath
from stack.kerberized_stack import KerberizedStack
from tests.clusters.programs import Program, table_settings
from tests.support.act_jobs import finished, start

OWNER, READER, GROUP = "etl", "bob", "analysts"
_UMASK = {"fs.permissions.umask-mode": "027"}


def test_the_group_reads_what_compactions_wrote(secured: KerberizedStack, tmp_path: Path) -> None:
    config = secured.config()
    config = replace(config, hadoop_conf={**config.hadoop_conf, **_UMASK})
    db = f"readers_{uuid.uuid4().hex[:8]}"
    place = config.path(f"/user/{db}")
    fs = open_file_system(place, config=config)
    fs.make_directory(place, mode=0o770)
    fs.set_owner(place, OWNER, GROUP)
    owner = secured.config_of(OWNER)
    owner = replace(owner, hadoop_conf=config.hadoop_conf)
    table_id = _written(owner, db, place, tmp_path)
    (iceberg,) = _run(
        config, "optimizer.iceberg.execution.jobs.optimize", _iceberg(db, table_id), tmp_path
    )["results"]
    assert iceberg["outcome"] == "DONE", iceberg["reason"]
    (hudi,) = _run(
        config, "optimizer.hudi.maintenance.jobs.run_services", _hudi(db, place), tmp_path
    )["tasks"]
    assert (hudi["outcome"], hudi["code"]) == ("DONE", ""), hudi
    reader = secured.config_of(READER)
    read_by = open_file_system(place, config=reader)
    for table in ("iceberg", "hudi"):
        found = list(read_by.walk(place.child(table)))
        ours = [one for one in found if one.owner == "lakewarden" and not one.is_dir]
        assert any(one.path.name.endswith(".parquet") for one in ours)
        assert {(one.group, one.mode) for one in ours} == {(GROUP, 0o640)}
        assert all(read_by.read(one.path) or not one.size for one in found if not one.is_dir)


def _written(config: LakeConfig, db: str, place: LakePath, tmp_path: Path) -> str:
    """Let the owner's own program write the tables; returns the Iceberg table's id."""
    program = Program.submit(
        config,
        table_settings(config),
        *(Path(__file__).with_name("group_writer.py"), db, str(place)),
        folder=tmp_path / "owner",
    )
    return program.output(timeout=300).split("uuid ")[1].strip()


def _run(config: LakeConfig, module: str, task: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """Run a program of the portal with one task, as a run that writes tables is submitted."""
    run = str(uuid.uuid4())
    log = tmp_path / f"{run}.log"
    job = start(config, module, {"tasks": [task]}, run=run, log=log)
    return dict(finished(*job, log))


def _iceberg(db: str, table_id: str) -> dict[str, Any]:
    return {
        "task": 1,
        "db": db,
        "table": "iceberg",
        "uuid": table_id,
        "kind": "FULL",
        "partitions": None,
        "target_bytes": 1 << 20,
        "layout": "",
        "boundaries": None,
        "max_group_bytes": 64 << 20,
        "max_commits": 1,
        "min_files": 2,
    }


def _hudi(db: str, place: LakePath) -> dict[str, Any]:
    return {
        "task": 1,
        "db": db,
        "table": "hudi",
        "location": str(place.child("hudi")),
        "service": "COMPACTION",
        "step": "EXECUTE",
        "properties": {
            "hoodie.compact.inline": "false",
            "hoodie.clean.automatic": "false",
            "hoodie.metadata.enable": "false",
        },
        "patience_seconds": 0,
    }
