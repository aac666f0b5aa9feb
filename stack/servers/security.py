"""What HDFS, its users and its clients are told of Kerberos, however many NameNodes there are."""

from dataclasses import dataclass
from typing import Protocol

from stack.servers.kdc import HOST, Kdc

GROUPS = (
    "hdfs=supergroup;hive=hive;alice=alice;bob=bob,analysts;eve=eve;lakewarden=supergroup"
    # Writes the group's tables; a portal that is no superuser, but in the group.
    ";etl=etl,analysts;steward=steward,analysts"
)


@dataclass(frozen=True, slots=True)
class Security:
    """One realm, how calls and data are protected, and the life of delegation tokens."""

    kdc: Kdc
    protection: str = "authentication"
    """`authentication`, `integrity` or `privacy`."""
    token_seconds: int = 86_400
    """After this a token must be renewed; it lives twice that."""

    @property
    def clients(self) -> dict[str, str]:
        """What every Hadoop client of the cluster has in its configuration."""
        return {
            "hadoop.security.authentication": "kerberos",
            "hadoop.rpc.protection": self.protection,
            "dfs.namenode.kerberos.principal": self.kdc.principal(f"hdfs/{HOST}"),
            "dfs.data.transfer.protection": self.protection,
            "dfs.block.access.token.enable": "true",
        }

    @property
    def core(self) -> dict[str, str]:
        """Properties of the daemons' core-site.xml."""
        return {
            **self.clients,
            "hadoop.security.authorization": "true",
            "hadoop.user.group.static.mapping.overrides": GROUPS,
            "hadoop.proxyuser.hive.hosts": "*",
            "hadoop.proxyuser.hive.groups": "*",
        }

    @property
    def site(self) -> dict[str, str]:
        """Properties of the daemons' hdfs-site.xml: their principals, and the life of tokens."""
        service, web = self.kdc.principal(f"hdfs/{HOST}"), self.kdc.principal(f"HTTP/{HOST}")
        keytab = str(self.kdc.keytab("hdfs"))
        return {
            # Those of core-site.xml would count for less than Hadoop's own defaults.
            **self.clients,
            "dfs.namenode.keytab.file": keytab,
            "dfs.namenode.kerberos.internal.spnego.principal": web,
            "dfs.datanode.kerberos.principal": service,
            "dfs.datanode.keytab.file": keytab,
            "dfs.datanode.hostname": HOST,
            "dfs.web.authentication.kerberos.principal": web,
            "dfs.web.authentication.kerberos.keytab": keytab,
            # Its web pages would need certificates; data go by SASL without them.
            "ignore.secure.ports.for.testing": "true",
            "dfs.namenode.delegation.token.renew-interval": str(self.token_seconds * 1000),
            "dfs.namenode.delegation.token.max-lifetime": str(self.token_seconds * 2000),
        }


class SecuredFiles(Protocol):
    """A secured HDFS, as the servers above it have to know it."""

    @property
    def uri(self) -> str:
        """The file system's address."""
        ...

    @property
    def security(self) -> Security:
        """Its realm."""
        ...

    @property
    def lake_properties(self) -> dict[str, str]:
        """What a lake's hadoop_conf says of it."""
        ...
