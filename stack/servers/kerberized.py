"""HDFS and the metastore as a secured cluster has them: everybody proves their name by Kerberos.

Blocks are read with tokens and by SASL. The life of delegation tokens is given, so that a test can
outlive it.
"""

from collections.abc import Mapping
from pathlib import Path

from stack.ledger import Ledger
from stack.process import LOOPBACK
from stack.servers.hdfs import Hdfs
from stack.servers.kdc import HOST
from stack.servers.metastore import Backing, Metastore, site_xml
from stack.servers.security import GROUPS, SecuredFiles, Security


class KerberizedHdfs(Hdfs):
    """HDFS that knows its callers; the DataNode's ports are high ones, so its data go by SASL."""

    def __init__(self, var: Path, *, ledger: Ledger, security: Security) -> None:
        super().__init__(var, ledger=ledger)
        self.security = security

    @property
    def lake_properties(self) -> dict[str, str]:
        """What a lake's hadoop_conf says of it."""
        return self.security.clients

    @property
    def uri(self) -> str:
        """The file system's address, under the name of its principal."""
        return f"hdfs://{HOST}:{self.port}"

    def environment(self) -> Mapping[str, str]:
        """Return what the JVM needs to find the realm."""
        return {**super().environment(), "JAVA_TOOL_OPTIONS": self.security.kdc.java_options}

    def _more_core(self) -> dict[str, str]:
        return self.security.core

    def _more_hdfs(self) -> dict[str, str]:
        return {
            **self.security.site,
            "dfs.namenode.rpc-address": f"{HOST}:{self.port}",
            "dfs.namenode.rpc-bind-host": LOOPBACK,
        }


class KerberizedMetastore(Metastore):
    """The metastore by SASL alone, which acts on HDFS in the name of its caller."""

    def __init__(
        self,
        var: Path,
        *,
        ledger: Ledger,
        backing: Backing,
        hdfs: SecuredFiles,
        properties: dict[str, str],
    ) -> None:
        """The life of its tokens is that of the file system's."""
        self.hdfs, kdc, seconds = hdfs, hdfs.security.kdc, hdfs.security.token_seconds
        secured = {
            "metastore.sasl.enabled": "true",
            "metastore.kerberos.principal": kdc.principal(f"hive/{HOST}"),
            "metastore.kerberos.keytab.file": str(kdc.keytab("hive")),
            "metastore.cluster.delegation.token.renew-interval": f"{seconds}s",
            "metastore.cluster.delegation.token.max-lifetime": f"{seconds * 2}s",
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
        return {**super().environment(), "JAVA_TOOL_OPTIONS": self.hdfs.security.kdc.java_options}

    def prepare(self) -> None:
        """Write the configuration, and where Hadoop's own defaults of HDFS count for more."""
        super().prepare()
        site = self.directory / "conf" / "hdfs-site.xml"
        site.write_text(site_xml(self.hdfs.lake_properties), encoding="utf-8")

    def _more_core(self) -> dict[str, str]:
        return {
            **self.hdfs.lake_properties,
            "hadoop.user.group.static.mapping.overrides": GROUPS,
        }
