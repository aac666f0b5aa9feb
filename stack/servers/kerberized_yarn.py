"""YARN of a secured cluster: both daemons log in, and applications run with delegation tokens."""

from collections.abc import Mapping
from pathlib import Path

from stack.ledger import Ledger
from stack.process import LOOPBACK
from stack.servers.kdc import HOST
from stack.servers.metastore import site_xml
from stack.servers.security import SecuredFiles
from stack.servers.yarn import NodeManager, ResourceManager, YarnCluster


class _SecuredManager(ResourceManager):
    """A ResourceManager that finds the realm."""

    java_options = ""

    def environment(self) -> Mapping[str, str]:
        """Return the environment with the realm."""
        return {**super().environment(), "JAVA_TOOL_OPTIONS": self.java_options}


class _SecuredNode(NodeManager):
    """A NodeManager that finds the realm."""

    java_options = ""

    def environment(self) -> Mapping[str, str]:
        """Return the environment with the realm."""
        return {**super().environment(), "JAVA_TOOL_OPTIONS": self.java_options}


class KerberizedYarn(YarnCluster):
    """Both daemons over one configuration, as `yarn/localhost`; `conf` serves clients, too."""

    def __init__(self, var: Path, *, ledger: Ledger, hdfs: SecuredFiles) -> None:
        super().__init__(var, ledger=ledger, default_fs=hdfs.uri)
        self.hdfs = hdfs
        manager = _SecuredManager(var, ledger=ledger, conf=self.conf)
        node = _SecuredNode(var, ledger=ledger, conf=self.conf)
        manager.java_options = node.java_options = hdfs.security.kdc.java_options
        self.manager, self.node = manager, node

    @property
    def client_properties(self) -> dict[str, str]:
        """What a client has to know: under the host's name, as its principal has it."""
        plain = super().client_properties
        named = {name: text.replace(LOOPBACK, HOST) for name, text in plain.items()}
        return {**named, "yarn.resourcemanager.principal": self._principal}

    @property
    def _principal(self) -> str:
        return self.hdfs.security.kdc.principal(f"yarn/{HOST}")

    def _write(self) -> None:
        super()._write()
        secured = {
            **self.hdfs.lake_properties,
            "fs.defaultFS": self.default_fs,
            "hadoop.tmp.dir": str(self.conf / "tmp"),
            "hadoop.user.group.static.mapping.overrides": "yarn=yarn;lakewarden=supergroup",
        }
        # Hadoop's own defaults of HDFS count for more than core-site.xml.
        for name in ("core-site.xml", "hdfs-site.xml"):
            (self.conf / name).write_text(site_xml(secured), encoding="utf-8")

    def _yarn(self) -> dict[str, str]:
        rm, nm = "yarn.resourcemanager.", "yarn.nodemanager."
        keytab = str(self.hdfs.security.kdc.keytab("yarn"))
        return {
            **{name: text.replace(LOOPBACK, HOST) for name, text in super()._yarn().items()},
            f"{rm}keytab": keytab,
            f"{nm}principal": self._principal,
            f"{nm}keytab": keytab,
            # Reading logs as their owner needs Hadoop's native library here, which no jar has.
            "yarn.log-aggregation-enable": "false",
            # Its web pages would ask for Kerberos, too.
            f"{rm}webapp.delegation-token-auth-filter.enabled": "false",
        }
