"""HDFS and the metastore as a secured cluster has them: everybody proves their name by Kerberos.

Blocks are read with tokens and by SASL. The life of delegation tokens is an argument, so that a
test can outlive it.
"""

from collections.abc import Mapping
from pathlib import Path

from stack.ledger import Ledger
from stack.process import LOOPBACK
from stack.servers.hdfs import Hdfs
from stack.servers.kdc import HOST, Kdc
from stack.servers.metastore import Backing, Metastore

_GROUPS = (
    "hdfs=supergroup;hive=hive;alice=alice;bob=bob,analysts;eve=eve;lakewarden=supergroup"
    # Writes the group's tables; a portal that is no superuser, but in the group.
    ";etl=etl,analysts;steward=steward,analysts"
)


class KerberizedHdfs(Hdfs):
    """HDFS that knows its callers; the DataNode's ports are high ones, so its data go by SASL."""

    def __init__(
        self,
        var: Path,
        *,
        ledger: Ledger,
        kdc: Kdc,
        protection: str = "authentication",
        token_seconds: int = 86_400,
    ) -> None:
        """Take how calls and data are protected (`authentication`, `integrity`, `privacy`).

        `token_seconds`: after this a delegation token must be renewed; it lives twice that.
        """
        super().__init__(var, ledger=ledger)
        self.kdc = kdc
        self.protection = protection
        self.token_seconds = token_seconds

    @property
    def client_properties(self) -> dict[str, str]:
        """What every Hadoop client of the cluster has in its configuration."""
        return {
            "hadoop.security.authentication": "kerberos",
            "hadoop.rpc.protection": self.protection,
            "dfs.namenode.kerberos.principal": self.kdc.principal(f"hdfs/{HOST}"),
            "dfs.data.transfer.protection": self.protection,
            "dfs.block.access.token.enable": "true",
        }

    @property
    def uri(self) -> str:
        """The file system's address, under the name of its principal."""
        return f"hdfs://{HOST}:{self.port}"

    def environment(self) -> Mapping[str, str]:
        """Return what the JVM needs to find the realm."""
        return {**super().environment(), "JAVA_TOOL_OPTIONS": self.kdc.java_options}

    def _more_core(self) -> dict[str, str]:
        return {
            **self.client_properties,
            "hadoop.security.authorization": "true",
            "hadoop.user.group.static.mapping.overrides": _GROUPS,
            "hadoop.proxyuser.hive.hosts": "*",
            "hadoop.proxyuser.hive.groups": "*",
        }

    def _more_hdfs(self) -> dict[str, str]:
        service, web = self.kdc.principal(f"hdfs/{HOST}"), self.kdc.principal(f"HTTP/{HOST}")
        keytab = str(self.kdc.keytab("hdfs"))
        renewal = str(self.token_seconds * 1000)
        return {
            # Those of core-site.xml would count for less than Hadoop's own defaults.
            **self.client_properties,
            "dfs.namenode.rpc-address": f"{HOST}:{self.port}",
            "dfs.namenode.rpc-bind-host": LOOPBACK,
            "dfs.namenode.keytab.file": keytab,
            "dfs.namenode.kerberos.internal.spnego.principal": web,
            "dfs.datanode.kerberos.principal": service,
            "dfs.datanode.keytab.file": keytab,
            "dfs.datanode.hostname": HOST,
            "dfs.web.authentication.kerberos.principal": web,
            "dfs.web.authentication.kerberos.keytab": keytab,
            # Its web pages would need certificates; data go by SASL without them.
            "ignore.secure.ports.for.testing": "true",
            "dfs.namenode.delegation.token.renew-interval": renewal,
            "dfs.namenode.delegation.token.max-lifetime": str(self.token_seconds * 2000),
        }


class KerberizedMetastore(Metastore):
    """The metastore by SASL alone, which acts on HDFS in the name of its caller."""

    def __init__(
        self,
        var: Path,
        *,
        ledger: Ledger,
        backing: Backing,
        hdfs: KerberizedHdfs,
        properties: dict[str, str],
    ) -> None:
        """The life of its tokens is that of the file system's."""
        self.hdfs, kdc = hdfs, hdfs.kdc
        secured = {
            "metastore.sasl.enabled": "true",
            "metastore.kerberos.principal": kdc.principal(f"hive/{HOST}"),
            "metastore.kerberos.keytab.file": str(kdc.keytab("hive")),
            "metastore.cluster.delegation.token.renew-interval": f"{hdfs.token_seconds}s",
            "metastore.cluster.delegation.token.max-lifetime": f"{hdfs.token_seconds * 2}s",
        }
        super().__init__(
            var,
            ledger=ledger,
            backing=backing,
            warehouse=f"{hdfs.uri}/user/hive/warehouse",
            default_fs=hdfs.uri,
            properties={**secured, **properties},
        )

    def environment(self) -> Mapping[str, str]:
        """Return what the JVM needs to find the realm."""
        return {**super().environment(), "JAVA_TOOL_OPTIONS": self.hdfs.kdc.java_options}

    def _more_core(self) -> dict[str, str]:
        return {
            **self.hdfs.client_properties,
            "hadoop.user.group.static.mapping.overrides": _GROUPS,
        }
