"""Hive Metastore 3.1.3 as a Thrift server, on Derby or on MariaDB."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from stack.ledger import Ledger
from stack.places import JARS, spark_home
from stack.process import SHORT_LIVED_JVM
from stack.servers.base import Server
from stack.servers.derby import derby_class_path

_FROM_SPARK = (
    "hadoop-client-api-3.3.4.jar",
    "hadoop-client-runtime-3.3.4.jar",
    "commons-logging-1.1.3.jar",
    "commons-cli-1.5.0.jar",
    "commons-collections-3.2.2.jar",
    "commons-codec-1.16.1.jar",
    "commons-io-2.16.1.jar",
)


@dataclass(frozen=True, slots=True)
class Backing:
    """The database behind the metastore."""

    url: str
    driver: str
    user: str
    password: str


def site_xml(properties: dict[str, str]) -> str:
    """Return a Hadoop configuration file."""
    rows = "".join(
        f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
        for name, value in properties.items()
    )
    return f'<?xml version="1.0"?>\n<configuration>\n{rows}</configuration>\n'


class Metastore(Server):
    """The metastore's Thrift server, with its notification log on."""

    name = "metastore"
    ready_seconds = 120.0

    def __init__(
        self,
        var: Path,
        *,
        ledger: Ledger,
        backing: Backing,
        warehouse: str,
        default_fs: str = "file:///",
        properties: dict[str, str] | None = None,
    ) -> None:
        super().__init__(var, ledger=ledger)
        self.backing = backing
        self.warehouse = warehouse
        self.default_fs = default_fs
        self.properties = properties or {}
        self.extra_jars: tuple[Path, ...] = ()

    @property
    def uri(self) -> str:
        """The Thrift address."""
        return f"thrift://127.0.0.1:{self.port}"

    def prepare(self) -> None:
        """Write the configuration."""
        super().prepare()
        conf = self.directory / "conf"
        conf.mkdir(exist_ok=True)
        jdo, hms = "javax.jdo.option.Connection", "metastore."
        listener = "org.apache.hive.hcatalog.listener.DbNotificationListener"
        proxy = "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy"
        values = {
            f"{jdo}URL": self.backing.url,
            f"{jdo}DriverName": self.backing.driver,
            f"{jdo}UserName": self.backing.user,
            f"{jdo}Password": self.backing.password,
            f"{hms}warehouse.dir": self.warehouse,
            f"{hms}thrift.port": str(self.port),
            f"{hms}expression.proxy": proxy,
            f"{hms}task.threads.always": "org.apache.hadoop.hive.metastore.events.EventCleanerTask",
            # 3.1.3 misspells the new name of this one (metastore.metastore...).
            "hive.metastore.event.db.notification.api.auth": "false",
            f"{hms}transactional.event.listeners": listener,
            "fs.defaultFS": self.default_fs,
            **self.properties,
        }
        (conf / "metastore-site.xml").write_text(site_xml(values), encoding="utf-8")
        (conf / "metastore-site.xml").chmod(0o600)
        core = {"fs.defaultFS": self.default_fs, **self._more_core()}
        (conf / "core-site.xml").write_text(site_xml(core), encoding="utf-8")

    def _more_core(self) -> dict[str, str]:
        """Properties of core-site.xml that a subclass has."""
        return {}

    def command(self) -> Sequence[str]:
        """Return the argv of the metastore, started without its launcher."""
        jars = JARS / "metastore"
        extra = [
            *sorted(jars.glob("jackson-*.jar")),
            *sorted(jars.glob("hive-hcatalog-*.jar")),
            *sorted(jars.glob("slf4j-api-*.jar")),
            *sorted(jars.glob("mariadb-*.jar")),
            *self.extra_jars,
        ]
        hadoop = [spark_home() / "jars" / name for name in _FROM_SPARK]
        class_path = [
            str(self.directory / "conf"),
            derby_class_path(),
            *map(str, extra),
        ]
        class_path += [f"{jars / 'hms' / 'lib'}/*", *map(str, hadoop)]
        return [
            *("java", *SHORT_LIVED_JVM, "-Xmx1g", "-cp", ":".join(class_path)),
            *("org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(self.port)),
        ]
