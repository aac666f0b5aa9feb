"""One node of Kafka (KRaft, no ZooKeeper), whose topics can be a changelog of change capture."""

import subprocess
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from pathlib import Path

from stack.errors import StackError
from stack.ledger import Ledger
from stack.places import JARS
from stack.process import LOOPBACK, SHORT_LIVED_JVM, free_port
from stack.servers.base import Server


class Kafka(Server):
    """Broker and controller in one process; it starts in about three seconds."""

    name = "kafka"
    ready_seconds = 90.0

    def __init__(self, var: Path, *, ledger: Ledger, port: int | None = None) -> None:
        super().__init__(var, ledger=ledger, port=port)
        self._controller_port = free_port()

    @property
    def address(self) -> str:
        """The bootstrap server."""
        return f"{LOOPBACK}:{self.port}"

    def prepare(self) -> None:
        """Write the settings, and format the storage on the first start."""
        super().prepare()
        settings = self.directory / "server.properties"
        settings.write_text("\n".join(self._settings()) + "\n", encoding="utf-8")
        if (self.directory / "data" / "meta.properties").is_file():
            return
        cluster = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        # One argument: an id of Kafka's own form may begin with "-", as an option does.
        tool = ["kafka.tools.StorageTool", "format", f"--cluster-id={cluster}", "-c", str(settings)]
        tool += self._format()
        done = subprocess.run(
            [*self._java("256m"), *tool], check=False, capture_output=True, text=True, timeout=120
        )
        if done.returncode != 0:
            raise StackError(f"Kafka's storage: {(done.stdout + done.stderr)[-2000:]}")

    def command(self) -> Sequence[str]:
        """Return the argv of the node."""
        return [*self._java("512m"), "kafka.Kafka", str(self.directory / "server.properties")]

    @staticmethod
    def _java(memory: str) -> list[str]:
        return ["java", f"-Xmx{memory}", *SHORT_LIVED_JVM, "-cp", f"{JARS / 'kafka'}/*"]

    @property
    def _controller(self) -> str:
        return f"{LOOPBACK}:{self._controller_port}"

    def _format(self) -> Sequence[str]:
        """Return what else the storage is formatted with."""
        return ()

    def _settings(self) -> list[str]:
        controller = self._controller
        return [
            "process.roles=broker,controller",
            "node.id=1",
            f"controller.quorum.voters=1@{controller}",
            f"listeners=PLAINTEXT://{self.address},CONTROLLER://{controller}",
            f"advertised.listeners=PLAINTEXT://{self.address}",
            "controller.listener.names=CONTROLLER",
            f"log.dirs={self.directory / 'data'}",
            "offsets.topic.replication.factor=1",
            "transaction.state.log.replication.factor=1",
            "transaction.state.log.min.isr=1",
            "transaction.state.log.num.partitions=4",
            "offsets.topic.num.partitions=4",
            "auto.create.topics.enable=false",
            "message.max.bytes=134217728",
            "group.initial.rebalance.delay.ms=0",
        ]
