"""A lake on a name service with two NameNodes, and on a second service of one: Derby behind it."""

from pathlib import Path
from typing import Self

from hdfs_native import Client

from stack.servers import derby
from stack.servers.base import Server
from stack.servers.derby import Derby
from stack.servers.ha_hdfs import HaHdfs
from stack.servers.hdfs import Hdfs
from stack.servers.metastore import Backing, Metastore
from stack.stack import Say, Stack, make_lake_folders

SECOND = "archive"
# A frozen NameNode is a fact to find out soon: clients wait a minute or two by themselves.
_IMPATIENT = {
    "ipc.client.rpc-timeout.ms": "8000",
    "ipc.ping.interval": "4000",
    "ipc.client.connect.max.retries": "1",
    "ipc.client.connect.max.retries.on.timeouts": "1",
}


class HaStack(Stack):
    """`Stack.embedded` on a name service, with a local master; build it with `available`."""

    ha: HaHdfs
    archive: Hdfs

    @classmethod
    def available(cls, var: Path) -> Self:
        """Servers of a lake whose files outlive a NameNode; not started yet.

        The second service has one NameNode, which the properties give without an id.
        """
        stack = cls(var)
        ledger = stack.ledger
        database = stack.derby = Derby(stack.var, ledger=ledger)
        ha = stack.ha = HaHdfs(stack.var, ledger=ledger)
        archive = stack.archive = Hdfs(stack.var, ledger=ledger)
        stack.lake_root = ha.uri
        backing = Backing(
            database.jdbc_url, derby.DRIVER, derby.USER, stack._password(derby.PASSWORD)
        )
        properties = {
            **ha.client_properties(),
            "dfs.nameservices": f"{ha.service},{SECOND}",
            f"dfs.namenode.rpc-address.{SECOND}": archive.uri.removeprefix("hdfs://"),
            **_IMPATIENT,
        }
        stack.metastore = Metastore(
            stack.var,
            ledger=ledger,
            backing=backing,
            warehouse=f"{ha.uri}/user/hive/warehouse",
            default_fs=ha.uri,
            properties=properties,
        )
        stack._layers = [[database, archive], [stack.metastore]]
        stack._lake = {
            "default_fs": ha.uri,
            "spark_master": "local[2]",
            "metastore_db": stack._metastore_db("derby", backing, database, derby.DATABASE),
            "hadoop_user": "lakewarden",
            "hadoop_conf": properties,
            "backup_roots": [f"{root}/lakewarden/backup" for root in (ha.uri, archive.uri)],
        }
        return stack

    def start(self, say: Say = lambda _: None) -> Self:
        """Start the name service, then all else that reads and writes on it."""
        try:
            self.ha.start()
            super().start(say)
        except BaseException:
            self.ha.stop()
            raise
        return self

    def stop(self) -> None:
        """End every server; twice does nothing."""
        self.ha.stop()
        super().stop()

    def servers(self) -> list[Server]:
        """Return the servers beside the name service, those started last first."""
        return [server for layer in reversed(self._layers) for server in reversed(layer)]

    def _make_lake_root(self) -> None:
        for uri in (self.ha.uri, self.archive.uri):
            make_lake_folders(Client(uri, config=self._lake["hadoop_conf"]))
