"""A lake as a company's cluster has it: Kerberos, two NameNodes, and drivers on YARN."""

import secrets
from pathlib import Path
from typing import Self

from hdfs_native import Client, WriteOptions

from stack.clusters import Clusters
from stack.kerberized_stack import USER, KerberizedStack
from stack.servers.base import Server, Together
from stack.servers.kdc import HOST
from stack.servers.kerberized_ha import KerberizedHaHdfs
from stack.servers.kerberized_yarn import KerberizedYarn
from stack.servers.security import SecuredFiles, Security
from stack.servers.yarn import yarn_settings
from stack.stack import make_lake_folders
from stack.starrocks.spec import Access

_JARS = "/lakewarden/jars"
_OF_OTHERS = ("mariadb-java-client-", "iceberg-spark-runtime-", "hudi-spark3.5-bundle_")


class ClusterStack(KerberizedStack):
    """`KerberizedStack` on a name service, with YARN in cluster mode; build it with `secured`.

    The lake's jars are on HDFS and its account of the database may only read, as docs/operations.md
    has it; the account's password stands nowhere else.
    """

    ha: KerberizedHaHdfs
    yarn: KerberizedYarn

    @classmethod
    def secured(
        cls, var: Path, *, protection: str = "authentication", token_seconds: int = 86_400
    ) -> Self:
        """Servers with calls protected so, whose tokens live that long; not started yet."""
        stack = super().secured(var, protection=protection, token_seconds=token_seconds)
        yarn = stack.yarn = KerberizedYarn(stack.var, ledger=stack.ledger, hdfs=stack.ha)
        lake = tuple(stack.ha.lake_properties.items())
        stack.clusters = Clusters(
            stack.var,
            ledger=stack.ledger,
            uris=f"thrift://{HOST}:{stack.metastore.port}",
            access=Access(stack.kerberos("bob"), lake),
        )
        stack._layers[0].append(stack.smtp)
        stack._layers[-1].append(Together("yarn", stack.var, ledger=stack.ledger, part=yarn))
        database = {"user": USER, "password_file": str(stack.var / "portal.password")}
        stack._lake |= {
            "metastore_db": {**stack._lake["metastore_db"], **database},
            "spark_master": "yarn",
            "spark_conf": yarn_settings(stack._spark_conf(), mode="cluster"),
            "spark_jars": [f"{stack.ha.uri}{_JARS}/{jar.name}" for jar in stack.jars],
            "spark_queues": {"default": "default", "lifecycle.drop": "governance"},
            "hadoop_conf": {**stack.ha.lake_properties, **yarn.client_properties},
        }
        return stack

    @property
    def jars(self) -> list[Path]:
        """The lake's jars on this host."""
        known = self._spark_jars()
        return [jar for jar in known if jar.parent.name == "jvm" or jar.name.startswith(_OF_OTHERS)]

    def servers(self) -> list[Server]:
        """Return the servers, front ends first, then those started last."""
        return [*self.clusters.running(), *super().servers()]

    def _files(self, security: Security) -> tuple[SecuredFiles, Server]:
        ha = self.ha = KerberizedHaHdfs(self.var, ledger=self.ledger, security=security)
        return ha, Together("name-service", self.var, ledger=self.ledger, part=ha)

    def _make_lake_root(self) -> None:
        superuser = self._superuser(self.ha)
        make_lake_folders(superuser)
        self._put_jars(superuser)
        self._make_account()

    def _put_jars(self, superuser: Client) -> None:
        superuser.mkdirs(_JARS, 0o700, create_parent=False)
        for jar in self.jars:
            with superuser.create(f"{_JARS}/{jar.name}", WriteOptions()) as file:
                file.write(jar.read_bytes())
            superuser.set_owner(f"{_JARS}/{jar.name}", USER, "supergroup")
        superuser.set_owner(_JARS, USER, "supergroup")

    def _make_account(self) -> None:
        password = secrets.token_urlsafe(24)
        self.database.add_reader(USER, password)
        file = Path(self._lake["metastore_db"]["password_file"])
        file.touch(mode=0o600)
        file.write_text(password, encoding="utf-8")
