"""YARN of a secured cluster: both daemons log in, and so do clients of their web services.

Applications run with delegation tokens.
"""

import secrets
from collections.abc import Mapping
from pathlib import Path

from requests.auth import AuthBase

from portal.connectors.kerberos.negotiate import Negotiate
from portal.connectors.kerberos.settings import Kerberos
from stack.ledger import Ledger
from stack.process import LOOPBACK
from stack.servers.kdc import HOST, Kdc
from stack.servers.metastore import site_xml
from stack.servers.security import SecuredFiles
from stack.servers.yarn import USER, NodeManager, ResourceManager, YarnCluster


class _SecuredManager(ResourceManager):
    """A ResourceManager that finds the realm, and wants to know who asks."""

    host = HOST
    kdc: Kdc

    def environment(self) -> Mapping[str, str]:
        """Return the environment with the realm."""
        return {**super().environment(), "JAVA_TOOL_OPTIONS": self.kdc.java_options}

    def proof(self) -> AuthBase:
        """Return the portal's own."""
        return _proof(self.kdc)


class _SecuredNode(NodeManager):
    """A NodeManager that finds the realm, and wants to know who asks."""

    host = HOST
    kdc: Kdc

    def environment(self) -> Mapping[str, str]:
        """Return the environment with the realm."""
        return {**super().environment(), "JAVA_TOOL_OPTIONS": self.kdc.java_options}

    def proof(self) -> AuthBase:
        """Return the portal's own."""
        return _proof(self.kdc)


class KerberizedYarn(YarnCluster):
    """Both daemons over one configuration, as `yarn/localhost`; `conf` serves clients, too."""

    def __init__(self, var: Path, *, ledger: Ledger, hdfs: SecuredFiles) -> None:
        super().__init__(var, ledger=ledger, default_fs=hdfs.uri)
        self.hdfs = hdfs
        manager = _SecuredManager(var, ledger=ledger, conf=self.conf)
        node = _SecuredNode(var, ledger=ledger, conf=self.conf)
        manager.kdc = node.kdc = hdfs.security.kdc
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
        secret = self.conf / "web.secret"
        secret.touch(mode=0o600)
        secret.write_text(secrets.token_hex(32), encoding="utf-8")
        http, kdc = "hadoop.http.authentication.", self.hdfs.security.kdc
        secured = {
            **self.hdfs.lake_properties,
            "fs.defaultFS": self.default_fs,
            "hadoop.tmp.dir": str(self.conf / "tmp"),
            "hadoop.user.group.static.mapping.overrides": "yarn=yarn;lakewarden=supergroup",
            "hadoop.http.filter.initializers": (
                "org.apache.hadoop.security.AuthenticationFilterInitializer"
            ),
            f"{http}type": "kerberos",
            f"{http}kerberos.principal": kdc.principal(f"HTTP/{HOST}"),
            # The key of the web server stands beside that of HDFS.
            f"{http}kerberos.keytab": str(kdc.keytab("hdfs")),
            f"{http}signature.secret.file": str(secret),
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
        }


def _proof(kdc: Kdc) -> Negotiate:
    portal = Kerberos(
        principal=kdc.principal(USER),
        keytab=str(kdc.keytab(USER)),
        metastore_principal=kdc.principal(f"hive/{HOST}"),
        krb5_conf=str(kdc.conf),
    )
    return Negotiate(portal, kdc.principal(f"HTTP/{HOST}"))
