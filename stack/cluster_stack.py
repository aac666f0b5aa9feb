"""A lake as a company's cluster has it: Kerberos, two NameNodes, and drivers on YARN."""

from pathlib import Path
from typing import Self

from stack.clusters import Clusters
from stack.kerberized_stack import KerberizedStack
from stack.servers.base import Server, Together
from stack.servers.kdc import HOST
from stack.servers.kerberized_ha import KerberizedHaHdfs
from stack.servers.kerberized_yarn import KerberizedYarn
from stack.servers.security import SecuredFiles, Security
from stack.servers.yarn import yarn_settings
from stack.stack import make_lake_folders
from stack.starrocks.spec import Access


class ClusterStack(KerberizedStack):
    """`KerberizedStack` on a name service, with YARN in cluster mode; build it with `secured`."""

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
        stack._lake |= {
            "spark_master": "yarn",
            "spark_conf": yarn_settings(stack._spark_conf(), mode="cluster"),
            "spark_jars": [f"local:{jar}" for jar in stack._spark_jars()],
            "spark_queues": {"default": "default", "lifecycle.drop": "governance"},
            "hadoop_conf": {**stack.ha.lake_properties, **yarn.client_properties},
        }
        return stack

    def servers(self) -> list[Server]:
        """Return the servers, front ends first, then those started last."""
        return [*self.clusters.running(), *super().servers()]

    def _files(self, security: Security) -> tuple[SecuredFiles, Server]:
        ha = self.ha = KerberizedHaHdfs(self.var, ledger=self.ledger, security=security)
        return ha, Together("name-service", self.var, ledger=self.ledger, part=ha)

    def _make_lake_root(self) -> None:
        make_lake_folders(self._superuser(self.ha))
