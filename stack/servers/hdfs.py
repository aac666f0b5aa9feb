"""A real HDFS (one NameNode, one DataNode) in one JVM."""

import json
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from stack.ledger import Ledger
from stack.places import CLASSES, JARS
from stack.process import LOOPBACK, SHORT_LIVED_JVM, free_port
from stack.servers.base import Server
from stack.servers.metastore import site_xml

LOG4J = """log4j.rootLogger=WARN,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c: %m%n
"""
GROUPS = "root=supergroup;alice=alice;bob=bob,analysts;etl=etl,analysts;lakewarden=supergroup"


def data_node_site(directory: Path, ports: Sequence[int]) -> dict[str, str]:
    """Return the DataNode's properties, with its ports for data, web and calls, and common ones."""
    transfer, http, ipc = ports
    return {
        "dfs.replication": "1",
        "dfs.datanode.data.dir": f"file://{directory / 'data'}",
        "dfs.datanode.address": f"{LOOPBACK}:{transfer}",
        "dfs.datanode.http.address": f"{LOOPBACK}:{http}",
        "dfs.datanode.ipc.address": f"{LOOPBACK}:{ipc}",
        "dfs.datanode.hostname": LOOPBACK,
        "dfs.client.use.datanode.hostname": "true",
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        "dfs.namenode.safemode.extension": "0",
        "dfs.heartbeat.interval": "1",
        "dfs.namenode.acls.enabled": "true",
        "dfs.permissions.enabled": "true",
        "dfs.permissions.superusergroup": "supergroup",
    }


def is_operational(http_port: int) -> bool:
    """Whether a NameNode has left its safe mode and has its DataNode."""
    query = "qry=Hadoop:service=NameNode,name=FSNamesystemState"
    url = f"http://{LOOPBACK}:{http_port}/jmx?{query}"
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            (bean,) = json.load(answer)["beans"]
    except (OSError, ValueError, KeyError):
        return False
    return bool(bean["NumLiveDataNodes"] == 1 and bean["FSState"] == "Operational")


class Hdfs(Server):
    """HDFS with permissions and ACLs on; groups come from the configuration."""

    name = "hdfs"
    ready_seconds = 90.0

    def __init__(
        self, var: Path, *, ledger: Ledger, port: int | None = None, encrypts: bool = False
    ) -> None:
        """`encrypts`: the NameNode has a key named lake, so that encryption zones can be made."""
        super().__init__(var, ledger=ledger, port=port)
        self.encrypts = encrypts
        self.http_port = free_port()
        self.data_ports = (free_port(), free_port(), free_port())

    @property
    def uri(self) -> str:
        """The file system's address."""
        return f"hdfs://{LOOPBACK}:{self.port}"

    @property
    def conf(self) -> Path:
        """The folder of core-site.xml and hdfs-site.xml."""
        return self.directory / "conf"

    def prepare(self) -> None:
        """Write the configuration."""
        super().prepare()
        self.conf.mkdir(exist_ok=True)
        core = {
            "fs.defaultFS": self.uri,
            "hadoop.tmp.dir": str(self.directory / "tmp"),
            "hadoop.user.group.static.mapping.overrides": GROUPS,
            "hadoop.proxyuser.root.hosts": "*",
            "hadoop.proxyuser.root.groups": "*",
        }
        if self.encrypts:
            keys = self.directory / "keys.jceks"
            core["hadoop.security.key.provider.path"] = f"jceks://file{keys}"
        hdfs = {
            **data_node_site(self.directory, self.data_ports),
            "dfs.namenode.name.dir": f"file://{self.directory / 'name'}",
            "dfs.namenode.rpc-address": f"{LOOPBACK}:{self.port}",
            "dfs.namenode.http-address": f"{LOOPBACK}:{self.http_port}",
        }
        core |= self._more_core()
        hdfs |= self._more_hdfs()
        (self.conf / "core-site.xml").write_text(site_xml(core), encoding="utf-8")
        (self.conf / "hdfs-site.xml").write_text(site_xml(hdfs), encoding="utf-8")
        (self.conf / "log4j.properties").write_text(LOG4J, encoding="utf-8")

    def _more_core(self) -> dict[str, str]:
        """Properties of core-site.xml that a subclass has."""
        return {}

    def _more_hdfs(self) -> dict[str, str]:
        """Properties of hdfs-site.xml that a subclass has."""
        return {}

    def command(self) -> Sequence[str]:
        """Return the argv of the one JVM."""
        return [
            *("java", "-Xmx768m", "--add-opens=java.base/java.lang=ALL-UNNAMED"),
            *SHORT_LIVED_JVM,
            *("-cp", f"{CLASSES / 'hdfs'}:{self.conf}:{JARS / 'hdfs'}/*", "MiniHdfs"),
        ]

    def is_ready(self) -> bool:
        """Whether the NameNode is operational and has its DataNode."""
        return is_operational(self.http_port)
