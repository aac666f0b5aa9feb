"""A lake on local files for tests that need its configuration but none of its servers."""

import json
from pathlib import Path

from portal.connectors.lake_config import LakeConfig, MetastoreDb
from portal.lake.ids import LakeId


def local_lake(root: Path, lake: LakeId) -> LakeConfig:
    """Return a lake below `root`; its metastore address leads nowhere."""
    database = MetastoreDb(
        kind="derby",
        jdbc_url="jdbc:derby://127.0.0.1:1/none",
        driver="org.apache.derby.client.ClientAutoloadedDriver",
        user="lw",
        password_file=str(root / "password"),
        host="127.0.0.1",
        port=1,
        database="none",
    )
    return LakeConfig(
        lake=lake,
        thrift_host="127.0.0.1",
        thrift_port=1,
        metastore_db=database,
        default_fs=f"file:{root}",
        backup_roots=(f"file:{root}/backups",),
        spool=f"file:{root}/spool",
        time_zone="Europe/Berlin",
        spark_master="local[1]",
        deployment_id="test",
    )


def write_lake(config: LakeConfig, lakes: Path) -> None:
    """Write lakes.json with this lake alone; the portal reads it at once."""
    lakes.write_text(json.dumps({str(config.lake): config.as_dict()}), encoding="utf-8")
