"""An Iceberg lake in a folder, without a metastore: jobs run on it as on any other.

Its session has the catalog `lake` as jobs and plain readers use it, and `indexed` as readers do who
have answers from cubes and indexes.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from portal.connectors.lake_config import LakeConfig, MetastoreDb
from portal.lake.ids import LakeId
from tests.support.iceberg_lake import IcebergLake
from tests.support.scan_spark import activate

REPO = Path(__file__).resolve().parents[2]
CATALOGS = {
    "plain": "org.apache.iceberg.spark.SparkCatalog",
    "lake": "org.apache.iceberg.spark.SparkCatalog",
    "indexed": "lakewarden.indexes.IndexedSparkCatalog",
}


def use_folder(session: SparkSession, root: Path) -> None:
    """Load the catalogs of a folder, so that settings of later jobs cannot change them."""
    for name, implementation in CATALOGS.items():
        prefix = f"spark.sql.catalog.{name}"
        session.conf.set(prefix, implementation)
        session.conf.set(f"{prefix}.type", "hadoop")
        session.conf.set(f"{prefix}.warehouse", f"file:{root}")
        session.conf.set(f"{prefix}.cache-enabled", "false")
        session.sql(f"SHOW NAMESPACES IN {name}").collect()


def config_of(root: Path) -> LakeConfig:
    """Return the settings of a lake in a folder; its metastore is never asked."""
    return LakeConfig(
        lake=LakeId("main"),
        thrift_host="127.0.0.1",
        thrift_port=1,
        metastore_db=MetastoreDb("derby", "", "", "", "", "", 0, ""),
        default_fs="file:///",
        spool=f"file:{root}/spool",
        time_zone="UTC",
        spark_master="local[2]",
        deployment_id="tests",
    )


class FileLake(IcebergLake):
    """A database of Iceberg tables in a folder, in a session of its own until it is closed."""

    shared: SparkSession

    @classmethod
    def at(cls, spark: SparkSession, root: Path, *, db: str = "shop") -> "FileLake":
        session = spark.newSession()
        activate(session)
        use_folder(session, root)
        session.sql(f"CREATE NAMESPACE IF NOT EXISTS lake.{db}")
        made = cls(session, config_of(root), db, root)
        made.shared = spark
        return made

    def close(self) -> None:
        """Let names be those of the session that others share; without one nothing finds any."""
        activate(self.shared)

    def kill(self, task: dict[str, Any], point: str, *, may_lose: Collection[str] = ()) -> bool:
        """Let another process do a task until it reaches a failpoint, at which it is killed -9.

        False where it ended without reaching it, well or with one of the codes of who loses a race.
        The JVM is this one's, which goes on.
        """
        gateway: Any = self.spark.sparkContext._gateway
        found = gateway.gateway_parameters
        order = {"root": str(self.root), "db": self.db, "task": task, "may_lose": [*may_lose]}
        process = subprocess.run(
            [sys.executable, "-m", "tests.support.file_lake"],
            cwd=REPO,
            input=json.dumps(order),
            text=True,
            capture_output=True,
            timeout=900,
            env={
                **os.environ,
                "PYSPARK_GATEWAY_PORT": str(found.port),
                "PYSPARK_GATEWAY_SECRET": str(found.auth_token),
                "LW_FAILPOINTS_ENABLED": "1",
                "LW_FAILPOINT": f"{point}:kill",
            },
            check=False,
        )
        if process.returncode == -signal.SIGKILL:
            return True
        assert process.returncode == 0, process.stderr[-3000:]
        return False


def main() -> None:
    """Do the order that the standard input has, in the JVM of the process that gave it."""
    from tests.faults.optimizer_driver import attached

    order = json.load(sys.stdin)
    lake = FileLake.at(attached(), Path(order["root"]), db=order["db"])
    (result,) = lake.optimize(order["task"])
    is_good = not result["code"] or result["outcome"] == "PARTIAL"
    assert is_good or result["code"] in order["may_lose"], result


if __name__ == "__main__":
    main()
