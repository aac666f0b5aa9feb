"""A second lake beside the first: a metastore, a database and files of its own.

Nothing of it is shared with the first one, so either may be stopped while the other goes on.
"""

from pathlib import Path
from typing import Any

from stack.ledger import Ledger
from stack.process import LOOPBACK
from stack.servers import derby
from stack.servers.base import Server
from stack.servers.derby import Derby
from stack.servers.metastore import Backing, Metastore

LAKE = "research"


class _Derby(Derby):
    """The database of the second lake's metastore."""

    name = f"{LAKE}-derby"


class _Metastore(Metastore):
    """The second lake's metastore."""

    name = f"{LAKE}-metastore"


class SecondLake:
    """The servers of the lake `research`, and what lakes.json says of it."""

    def __init__(self, var: Path, *, ledger: Ledger) -> None:
        self.root = var / f"lake-{LAKE}"
        self.derby = _Derby(var, ledger=ledger)
        self._backing = Backing(self.derby.jdbc_url, derby.DRIVER, derby.USER, derby.PASSWORD)
        self.metastore = _Metastore(
            var,
            ledger=ledger,
            backing=self._backing,
            warehouse=f"file://{self.root}/user/hive/warehouse",
        )

    @property
    def servers(self) -> list[Server]:
        """The servers of this lake alone."""
        return [self.derby, self.metastore]

    def entry(self, first: dict[str, Any]) -> dict[str, Any]:
        """Return the lake's entry of lakes.json: the first one's, with places of its own."""
        for name in ("user/hive/warehouse", "lakewarden/backup", "lakewarden/spool"):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        (self.root / "lakewarden").chmod(0o700)
        warehouse = {"spark.sql.warehouse.dir": f"file://{self.root}/user/hive/warehouse"}
        database = {"jdbc_url": self._backing.url, "port": self.derby.port, "host": LOOPBACK}
        return {
            **first,
            "thrift_port": self.metastore.port,
            "metastore_db": {**first["metastore_db"], **database},
            "backup_roots": [f"file://{self.root}/lakewarden/backup"],
            "spool": f"file://{self.root}/lakewarden/spool",
            "time_zone": "Europe/Berlin",
            "deployment_id": f"{first['deployment_id']}-{LAKE}",
            "spark_conf": {**first["spark_conf"], **warehouse},
            "path_aliases": {},
            "recorded_queries": "",
        }
