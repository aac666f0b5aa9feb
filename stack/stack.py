"""Which servers make a whole lake, and the files that tell the portal where they are.

`Stack.embedded` is what the demo runs on: Derby, local files, `local[*]`. `Stack.full` is the
production form on one machine: MariaDB, HDFS, Spark standalone. Both write lakes.json,
directory.json and stack.json and give the environment that the portal is started with.
"""

import json
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from hdfs_native import Client

from portal.connectors.lake_config import LakeConfig, load_lakes
from stack.clusters import Clusters
from stack.ledger import Ledger
from stack.people import write_directory
from stack.places import JARS, jars_of
from stack.process import LOOPBACK
from stack.servers import derby, mariadb
from stack.servers.base import Server
from stack.servers.derby import Derby
from stack.servers.guard import JAR, Guard
from stack.servers.hdfs import Hdfs
from stack.servers.mariadb import MariaDb
from stack.servers.metastore import Backing, Metastore
from stack.servers.redis import Redis
from stack.servers.second_lake import LAKE as SECOND
from stack.servers.second_lake import SecondLake
from stack.servers.smtp import Smtp
from stack.servers.spark import SparkMaster, SparkWorker
from stack.servers.starrocks import StarRocks
from stack.spark_classes import driver_settings

LAKE = "main"
Say = Callable[[str], None]


_FOLDERS = ("user/hive/warehouse", "lakewarden/backup", "lakewarden/spool", "tmp")


def make_lake_folders(superuser: Client) -> None:
    """Make on HDFS what must be there before the first database is made."""
    for name in _FOLDERS:
        superuser.mkdirs(f"/{name}", 0o755, create_parent=True)
    superuser.set_permission("/user", 0o777)
    superuser.set_permission("/tmp", 0o1777)  # noqa: S108  (a folder of the lake)
    for name in ("/lakewarden", "/lakewarden/backup", "/lakewarden/spool"):
        superuser.set_owner(name, "lakewarden", "supergroup")
        superuser.set_permission(name, 0o700)


class Stack:
    """Running servers with their files under `var`. Build one with `embedded` or `full`."""

    metastore: Metastore
    guard: Guard
    clusters: Clusters
    hdfs: Hdfs | None = None
    mariadb: MariaDb | None = None
    derby: Derby | None = None
    second: SecondLake | None = None
    spark_master: SparkMaster | None = None
    spark_worker: SparkWorker | None = None

    def __init__(self, var: Path, *, owned: bool = True) -> None:
        self.var = var.resolve()
        self.var.mkdir(parents=True, exist_ok=True)
        self.var.chmod(0o700)  # sessions, password hashes, mails and logs lie below
        self.ledger = Ledger(self.var / "stack.json")
        self.redis = Redis(self.var, ledger=self.ledger)
        self.smtp = Smtp(self.var, ledger=self.ledger)
        self.lakes_file = self.var / "lakes.json"
        self.directory_file = self.var / "directory.json"
        self._owned = owned
        self._reaper: subprocess.Popen[bytes] | None = None
        self._layers: list[list[Server]] = []
        self._lake: dict[str, Any] = {}
        self._env: dict[str, str] = {}
        self.lake_root = ""

    # -- the two forms ---------------------------------------------------------------------

    @classmethod
    def embedded(
        cls,
        var: Path,
        *,
        owned: bool = True,
        recorded_queries: str = "",
        has_second: bool = False,
    ) -> "Stack":
        """Derby, local files, SQLite, Redis, SMTP sink, Spark `local[*]`; not started yet.

        `recorded_queries` names the table in which the lake keeps queries, if it does; a second
        lake has servers of its own, and is a catalog of the cluster of 3.x.
        """
        stack = cls(var, owned=owned)
        stack.derby = Derby(stack.var, ledger=stack.ledger)
        stack.lake_root = f"file://{stack.var}/lake"
        backing = Backing(
            stack.derby.jdbc_url, derby.DRIVER, derby.USER, stack._password(derby.PASSWORD)
        )
        stack._set_metastore(backing, default_fs="file:///")
        stack._layers = [[stack.derby, stack.redis, stack.smtp], [stack.metastore]]
        if has_second:
            stack.second = SecondLake(stack.var, ledger=stack.ledger)
            databases, metastores = stack._layers
            databases.append(stack.second.derby)
            metastores.append(stack.second.metastore)
            stack.clusters.catalogs[SECOND] = stack.second.metastore.uri
        stack._lake = {
            "default_fs": "file:///",
            "spark_master": "local[*]",
            "metastore_db": stack._metastore_db("derby", backing, stack.derby, derby.DATABASE),
            "hadoop_user": None,
            "recorded_queries": recorded_queries,
        }
        return stack

    @classmethod
    def full(cls, var: Path, *, owned: bool = True) -> "Stack":
        """MariaDB, HDFS, Redis, SMTP sink, Spark standalone with a worker; not started yet."""
        stack = cls(var, owned=owned)
        database = stack.mariadb = MariaDb(stack.var, ledger=stack.ledger)
        hdfs = stack.hdfs = Hdfs(stack.var, ledger=stack.ledger)
        master = stack.spark_master = SparkMaster(stack.var, ledger=stack.ledger)
        worker = stack.spark_worker = SparkWorker(stack.var, ledger=stack.ledger, master=master.url)
        stack.lake_root = hdfs.uri
        backing = Backing(
            database.jdbc_url, mariadb.DRIVER, mariadb.USER, stack._password(mariadb.PASSWORD)
        )
        stack._set_metastore(backing, default_fs=hdfs.uri)
        stack._layers = [[database, hdfs, stack.redis, stack.smtp, master]]
        stack._layers += [[stack.metastore, worker]]
        stack._lake = {
            "default_fs": hdfs.uri,
            "spark_master": master.url,
            "metastore_db": stack._metastore_db("mysql", backing, database, mariadb.METASTORE),
            "hadoop_user": "lakewarden",
        }
        stack._env["LAKEWARDEN_DB_URL"] = database.portal_url
        return stack

    # -- life ------------------------------------------------------------------------------

    def start(self, say: Say = lambda _: None) -> Self:
        """Start every server, wait for all, write the files; on an error end what was started."""
        try:
            if self._owned:
                self._start_reaper()
            for layer in self._layers:
                for server in layer:
                    server.start()
                for server in layer:
                    server.wait_ready()
                    say(f"{server.name} answers on port {server.port}")
            self._make_lake_root()
            self._write_files()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End every server and everything they or the portal started; twice does nothing."""
        for server in self.servers():
            server.stop()
        self.ledger.end_all()
        if self._reaper is not None and self._reaper.stdin is not None:
            self._reaper.stdin.close()
            self._reaper.wait(timeout=60)
            self._reaper = None

    def servers(self) -> Iterable[Server]:
        """Return the servers, those started last first."""
        layers = [*self._layers, self.clusters.running()]
        return [server for layer in reversed(layers) for server in reversed(layer)]

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    # -- what others ask -------------------------------------------------------------------

    @property
    def redis_url(self) -> str:
        """The broker's address."""
        return self.redis.url

    @property
    def starrocks(self) -> StarRocks:
        """Front ends of 3.x with the lake as a catalog; started when first asked for."""
        return self.clusters.new

    @property
    def old_starrocks(self) -> StarRocks:
        """Front ends of 2.2 with the lake as a resource; started when first asked for."""
        return self.clusters.old

    @property
    def env(self) -> dict[str, str]:
        """The environment that manage.py, Celery and gunicorn are started with."""
        return {
            "LAKEWARDEN_VAR": str(self.var),
            "LAKEWARDEN_LAKES": str(self.lakes_file),
            "LAKEWARDEN_DIRECTORY": str(self.directory_file),
            "LAKEWARDEN_REDIS_URL": self.redis_url,
            "LAKEWARDEN_SMTP": self.smtp.address,
            "LAKEWARDEN_SECRET_KEY_FILE": str(self._secret_key_file()),
            "LAKEWARDEN_CLUSTER_ADDRESSES": "127.0.0.0/8:*",
            "LAKEWARDEN_COOLING_OFF_SECONDS": "10",
            "LAKEWARDEN_PROBE_SECONDS": "0,20,60",
            "LAKEWARDEN_POLL_SECONDS": "2",
            "LAKEWARDEN_LOG_FORMAT": "text",
            **self._env,
        }

    def config(self, lake: str = LAKE) -> LakeConfig:
        """Return the lake's configuration as the portal reads it."""
        return load_lakes(self.lakes_file)[lake]

    # -- inside ----------------------------------------------------------------------------

    def _start_reaper(self) -> None:
        self.ledger.note(kind="owned")
        self._reaper = subprocess.Popen(
            [sys.executable, "-m", "stack.reaper", str(self.ledger.path)],
            cwd=Path(__file__).resolve().parent.parent,
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def _password(self, word: str) -> str:
        """Keep the metastore database's password in its 0600 file, as in production."""
        path = self.var / "metastore.password"
        path.touch(mode=0o600)
        path.write_text(word, encoding="utf-8")
        return word

    def _secret_key_file(self) -> Path:
        path = self.var / "secret_key"
        if not path.exists():
            path.touch(mode=0o600)
            path.write_text(secrets.token_urlsafe(48), encoding="utf-8")
        return path

    def _set_metastore(self, backing: Backing, *, default_fs: str) -> None:
        owner_place = f"{self.lake_root}/user/{{owner}}"
        self.guard = Guard(self.var / "guard.properties", owner_place=owner_place)
        self.metastore = Metastore(
            self.var,
            ledger=self.ledger,
            backing=backing,
            warehouse=f"{self.lake_root}/user/hive/warehouse",
            default_fs=default_fs,
            properties=self.guard.properties(),
        )
        self.metastore.extra_jars = (JAR,)
        self.clusters = Clusters(self.var, ledger=self.ledger, uris=self.metastore.uri)

    def _metastore_db(
        self, kind: str, backing: Backing, server: Server, database: str
    ) -> dict[str, Any]:
        return {
            "kind": kind,
            "jdbc_url": backing.url,
            "driver": backing.driver,
            "user": backing.user,
            "password_file": str(self.var / "metastore.password"),
            "host": LOOPBACK,
            "port": server.port,
            "database": database,
        }

    def _make_lake_root(self) -> None:
        """Make the folders that somebody must own before the first database is made."""
        if self.hdfs is None:
            for name in _FOLDERS:
                (self.var / "lake" / name).mkdir(parents=True, exist_ok=True)
            (self.var / "lake" / "lakewarden").chmod(0o700)
            return
        make_lake_folders(self._superuser(self.hdfs))

    def _superuser(self, hdfs: Hdfs) -> Client:
        """Return HDFS as the user that runs its NameNode."""
        return Client(hdfs.uri)

    def _write_files(self) -> None:
        lake = {
            "thrift_host": LOOPBACK,
            "thrift_port": self.metastore.port,
            # The demo's table on another cluster: a file system that the lake knows of.
            "path_aliases": {"127.0.0.1:8020": "127.0.0.1:8020"},
            "backup_roots": [f"{self.lake_root}/lakewarden/backup"],
            "spool": f"{self.lake_root}/lakewarden/spool",
            "time_zone": "UTC",
            "deployment_id": f"stack-{self.ledger.mark[:12]}",
            "spark_jars": [str(path) for path in self._spark_jars()],
            "spark_conf": self._spark_conf(),
            **self._lake,
        }
        lakes = {LAKE: lake}
        if self.second is not None:
            lakes[SECOND] = self.second.entry(lake)
        self.lakes_file.write_text(json.dumps(lakes, indent=2), encoding="utf-8")
        if not self.directory_file.exists():
            write_directory(self.directory_file)
        self.ledger.note(lakes=str(self.lakes_file), lake_root=self.lake_root, env=self.env)

    @staticmethod
    def _spark_jars() -> list[Path]:
        """The drivers, Iceberg, Hudi and Kafka for the jobs, and our own."""
        ours = [JARS / "jvm" / f"{name}.jar" for name in ("spark-functions", "indexed-catalog")]
        return [*jars_of("spark"), *ours]

    def _spark_conf(self) -> dict[str, str]:
        conf = {
            "spark.ui.enabled": "false",
            "spark.driver.host": LOOPBACK,
            "spark.driver.bindAddress": LOOPBACK,
            "spark.driver.memory": "1g",
            "spark.sql.shuffle.partitions": "4",
            "spark.local.dir": str(self.var / "spark-local"),
            "spark.sql.warehouse.dir": f"{self.lake_root}/user/hive/warehouse",
            # Hudi reads and writes with nothing else.
            "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
            "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
        }
        if self.spark_master is not None:
            conf |= {"spark.executor.memory": "768m", "spark.cores.max": "2"}
        return conf | driver_settings()
