"""Spark standalone from the pip package: a master and a worker, without the shell launchers."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from stack.ledger import Ledger
from stack.places import spark_home
from stack.process import LOOPBACK, SHORT_LIVED_JVM, free_port
from stack.servers.base import Server

_JAVA = (
    "java",
    *SHORT_LIVED_JVM,
    "-Xmx384m",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "-cp",
    f"{spark_home() / 'jars'}/*",
)


class _SparkServer(Server):
    properties_file: Path | None = None
    """Where it reads its properties, such as the secret that it shares with programs."""

    def properties_arguments(self) -> Sequence[str]:
        """Return the arguments that name the file, if there is one."""
        return ("--properties-file", str(self.properties_file)) if self.properties_file else ()

    def environment(self) -> Mapping[str, str]:
        """Return what the package's servers need: without the Scala version every executor dies."""
        return {
            **super().environment(),
            "SPARK_HOME": str(spark_home()),
            "SPARK_SCALA_VERSION": "2.12",
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_NO_DAEMONIZE": "1",
        }


class SparkMaster(_SparkServer):
    """A standalone master."""

    name = "spark-master"

    def __init__(self, var: Path, *, ledger: Ledger, port: int | None = None) -> None:
        super().__init__(var, ledger=ledger, port=port)
        self.web_port = free_port()

    @property
    def url(self) -> str:
        """The address for spark-submit."""
        return f"spark://{LOOPBACK}:{self.port}"

    def command(self) -> Sequence[str]:
        """Return the argv of the master."""
        return [
            *(*_JAVA, "org.apache.spark.deploy.master.Master", "--host", LOOPBACK),
            *("--port", str(self.port), "--webui-port", str(self.web_port)),
            *self.properties_arguments(),
        ]


class SparkWorker(_SparkServer):
    """A standalone worker; its work folders lie in its own directory."""

    name = "spark-worker"

    def __init__(
        self,
        var: Path,
        *,
        ledger: Ledger,
        master: str,
        n_cores: int = 2,
        memory: str = "2g",
    ) -> None:
        super().__init__(var, ledger=ledger)
        self.master = master
        self.n_cores = n_cores
        self.memory = memory
        self.web_port = free_port()

    def command(self) -> Sequence[str]:
        """Return the argv of the worker."""
        return [
            *(*_JAVA, "org.apache.spark.deploy.worker.Worker", "--host", LOOPBACK),
            *("--port", str(self.port), "--webui-port", str(self.web_port)),
            *self.properties_arguments(),
            *(
                "-c",
                str(self.n_cores),
                "-m",
                self.memory,
                "-d",
                str(self.directory),
                self.master,
            ),
        ]

    def is_ready(self) -> bool:
        """Whether the worker has registered with its master."""
        return super().is_ready() and "Successfully registered with master" in self.process.said()
