"""A name service with two NameNodes whose processes know their callers by Kerberos."""

from pathlib import Path

from stack.ledger import Ledger
from stack.servers.ha_hdfs import HaHdfs
from stack.servers.kdc import HOST
from stack.servers.security import Security


class KerberizedHaHdfs(HaHdfs):
    """Both NameNodes are `hdfs/localhost`, as the journal nodes and the DataNode are."""

    host = HOST

    def __init__(
        self, var: Path, *, ledger: Ledger, security: Security, service: str = "lake"
    ) -> None:
        kdc = security.kdc
        principal = kdc.principal(f"hdfs/{HOST}")
        journal = {
            "dfs.journalnode.kerberos.principal": principal,
            "dfs.journalnode.keytab.file": str(kdc.keytab("hdfs")),
            "dfs.journalnode.kerberos.internal.spnego.principal": kdc.principal(f"HTTP/{HOST}"),
        }
        # As whom a NameNode answers to who makes it active.
        core = {**security.core, "hadoop.security.service.user.name.key": principal}
        super().__init__(
            var, ledger=ledger, service=service, core=core, hdfs={**security.site, **journal}
        )
        self.security = security
        for node in self.processes:
            node.java_options = kdc.java_options

    @property
    def lake_properties(self) -> dict[str, str]:
        """What a lake's hadoop_conf says of it."""
        return {**self.client_properties(), **self.security.clients}
