"""A lake of a secured cluster: a KDC, HDFS and the metastore with Kerberos, MariaDB behind it."""

import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Self

from hdfs_native import Client

from portal.connectors.kerberos.settings import CONFIGURATION, Kerberos
from portal.connectors.lake_config import LakeConfig
from stack.servers import mariadb
from stack.servers.base import Server
from stack.servers.guard import JAR, Guard
from stack.servers.hdfs import Hdfs
from stack.servers.kdc import HOST, REALM, Kdc
from stack.servers.kerberized import KerberizedHdfs, KerberizedMetastore
from stack.servers.mariadb import MariaDb
from stack.servers.metastore import Backing
from stack.servers.security import SecuredFiles, Security
from stack.stack import Stack

USER = "lakewarden"


class KerberizedStack(Stack):
    """`Stack.full` as a secured cluster has it, with a local master; build it with `secured`."""

    kdc: Kdc
    database: MariaDb

    @classmethod
    def secured(
        cls, var: Path, *, protection: str = "authentication", token_seconds: int = 86_400
    ) -> Self:
        """Servers with calls protected so, whose tokens live that long; not started yet."""
        stack = cls(var)
        ledger = stack.ledger
        kdc = stack.kdc = Kdc(stack.var, ledger=ledger)
        database = stack.database = stack.mariadb = MariaDb(stack.var, ledger=ledger)
        security = Security(kdc, protection, token_seconds)
        hdfs, hdfs_server = stack._files(security)
        stack.lake_root = hdfs.uri
        backing = Backing(
            database.jdbc_url, mariadb.DRIVER, mariadb.USER, stack._password(mariadb.PASSWORD)
        )
        stack.guard = Guard(
            stack.var / "guard.properties", owner_place=f"{hdfs.uri}/user/{{owner}}"
        )
        metastore = stack.metastore = KerberizedMetastore(
            stack.var,
            ledger=ledger,
            backing=backing,
            hdfs=hdfs,
            properties=stack.guard.properties(),
        )
        metastore.extra_jars = (JAR,)
        stack._layers = [[kdc, database], [hdfs_server], [metastore]]
        stack._lake = {
            "default_fs": hdfs.uri,
            "thrift_host": HOST,
            "spark_master": "local[2]",
            "metastore_db": stack._metastore_db("mysql", backing, database, mariadb.METASTORE),
            "hadoop_user": None,
            "hadoop_conf": hdfs.lake_properties,
            "kerberos": asdict(stack.kerberos()),
        }
        return stack

    def servers(self) -> list[Server]:
        """Return the servers, those started last first; there are no front ends here."""
        return [server for layer in reversed(self._layers) for server in reversed(layer)]

    def kerberos(self, name: str = USER) -> Kerberos:
        """Return the log-in of a person of the realm."""
        return Kerberos(
            principal=self.kdc.principal(name),
            keytab=str(self.kdc.keytab(name)),
            metastore_principal=f"hive/_HOST@{REALM}",
            krb5_conf=str(self.kdc.conf),
        )

    def config_of(self, name: str) -> LakeConfig:
        """Return the lake's configuration with the log-in of a person or a service."""
        return replace(self.config(), kerberos=self.kerberos(name))

    def _files(self, security: Security) -> tuple[SecuredFiles, Server]:
        """Return the file system, and what starts it."""
        hdfs = self.hdfs = KerberizedHdfs(self.var, ledger=self.ledger, security=security)
        return hdfs, hdfs

    def _superuser(self, hdfs: Hdfs | SecuredFiles) -> Client:
        name = f"hdfs/{HOST}"
        os.environ.setdefault(CONFIGURATION, str(self.kdc.conf))
        return Client(
            hdfs.uri,
            config=self._lake["hadoop_conf"],
            kerberos_principal=self.kdc.principal(name),
            kerberos_keytab=str(self.kdc.keytab(name)),
            kerberos_cache=f"MEMORY:superuser of {self.var}",
        )
