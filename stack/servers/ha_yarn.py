"""A real YARN with two ResourceManagers and two nodes.

The ResourceManagers elect the active one over a ZooKeeper, which also keeps what they know of
applications: one that was frozen and wakes has lost both.
"""

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from stack.errors import StackError
from stack.ledger import Ledger
from stack.places import JARS
from stack.process import LOOPBACK, SHORT_LIVED_JVM, free_port, stop_still
from stack.servers.base import Server
from stack.servers.hdfs import LOG4J
from stack.servers.yarn import (
    CALLS,
    SCHEDULING,
    NodeManager,
    ResourceManager,
    node_settings,
    write_conf,
)

MANAGERS = ("rm1", "rm2")
# A driver and its executor do not fit into one node.
_NODE_MB = 1280
_RM = "yarn.resourcemanager."


class ZooKeeper(Server):
    """One server, which ends sessions that were silent for a few seconds."""

    name = "zookeeper"

    def prepare(self) -> None:
        """Write its configuration."""
        super().prepare()
        (self.directory / "log4j.properties").write_text(LOG4J, encoding="utf-8")
        lines = {
            "tickTime": "500",
            "dataDir": str(self.directory / "data"),
            "clientPort": str(self.port),
            "clientPortAddress": LOOPBACK,
            "admin.enableServer": "false",
        }
        text = "".join(f"{name}={value}\n" for name, value in lines.items())
        (self.directory / "zoo.cfg").write_text(text, encoding="utf-8")

    def command(self) -> Sequence[str]:
        """Return the argv of the JVM."""
        return [
            *("java", "-Xmx128m", *SHORT_LIVED_JVM),
            *("-cp", f"{self.directory}:{JARS / 'yarn'}/*"),
            *("org.apache.zookeeper.server.ZooKeeperServerMain", str(self.directory / "zoo.cfg")),
        ]


class Member(ResourceManager):
    """One of the two."""

    def __init__(self, name: str, var: Path, *, ledger: Ledger) -> None:
        self.name = name
        super().__init__(var, ledger=ledger, conf=var / f"{name}-conf")

    def is_ready(self) -> bool:
        """Whether its web service answers; a standby's does, too."""
        return bool(self.state())

    def state(self) -> str:
        """Return ACTIVE or STANDBY, or nothing while it does not answer."""
        told = self.get("cluster/info").get("clusterInfo")
        return str(told["haState"]) if isinstance(told, dict) else ""

    def n_nodes(self) -> int:
        """Return how many nodes it has."""
        told = self.get("cluster/metrics").get("clusterMetrics")
        return int(told["activeNodes"]) if isinstance(told, dict) else 0

    def stop(self) -> None:
        """End it at once: a frozen one does not hear that it should."""
        self.kill()

    def freeze(self) -> None:
        """Stop it as it is, with its connections open."""
        stop_still(self.process.pid)

    def thaw(self) -> None:
        """Let it go on."""
        os.killpg(self.process.pid, signal.SIGCONT)


class Node(NodeManager):
    """One of the two."""

    def __init__(self, name: str, var: Path, *, ledger: Ledger) -> None:
        self.name = name
        super().__init__(var, ledger=ledger, conf=var / f"{name}-conf")


class HaYarn:
    """All five processes, each with a configuration of its own."""

    def __init__(self, var: Path, *, ledger: Ledger, default_fs: str) -> None:
        self.default_fs = default_fs
        self.zookeeper = ZooKeeper(var, ledger=ledger)
        self.managers = {name: Member(name, var, ledger=ledger) for name in MANAGERS}
        self.nodes = [Node(f"node{n}", var, ledger=ledger) for n in (1, 2)]
        self._addresses = {
            f"{_RM}{call}.{name}": f"{LOOPBACK}:{free_port()}"
            for name in MANAGERS
            for call in CALLS
        }

    def client_properties(self, *, order: Sequence[str] = MANAGERS) -> dict[str, str]:
        """What a client has to know; it asks the members in that order."""
        return {
            f"{_RM}ha.enabled": "true",
            f"{_RM}cluster-id": "lake",
            f"{_RM}ha.rm-ids": ",".join(order),
            **self._addresses,
            **{
                f"{_RM}webapp.address.{name}": f"{LOOPBACK}:{manager.port}"
                for name, manager in self.managers.items()
            },
            # Else a driver waits for a frozen ResourceManager without an end.
            "ipc.client.rpc-timeout.ms": "5000",
            "ipc.client.connect.max.retries": "1",
            "yarn.client.failover-sleep-base-ms": "500",
            "yarn.client.failover-sleep-max-ms": "2000",
        }

    def start(self) -> None:
        """Start all; returns when one leads and has both nodes."""
        self.zookeeper.start()
        self.zookeeper.wait_ready()
        for name, manager in self.managers.items():
            self._write(manager.conf, {f"{_RM}ha.id": name})
            manager.start()
        for node in self.nodes:
            own = node_settings(node, calls=free_port(), localizer=free_port())
            self._write(node.conf, own | {"yarn.nodemanager.resource.memory-mb": str(_NODE_MB)})
            node.start()
        self.wait_both()

    def stop(self) -> None:
        """End all, the nodes and their containers first."""
        for server in (*self.nodes, *self.managers.values(), self.zookeeper):
            server.stop()

    def leader(self) -> Member:
        """Return the active one."""
        found: list[Member] = []

        def leads() -> bool:
            found.extend(one for one in self.managers.values() if one.state() == "ACTIVE")
            return bool(found)

        self._wait(leads)
        return found[0]

    def wait_both(self) -> None:
        """Wait until one leads and has both nodes, and the other one stands by."""
        states = ["ACTIVE", "STANDBY"]
        self._wait(lambda: sorted(one.state() for one in self.managers.values()) == states)
        self._wait(lambda: self.leader().n_nodes() == len(self.nodes))

    @staticmethod
    def _wait(holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 90
        while not holds():
            if time.monotonic() > deadline:
                raise StackError("The ResourceManagers did not come so far within 90 s.")
            time.sleep(0.2)

    def _write(self, conf: Path, own: Mapping[str, str]) -> None:
        client = self.client_properties()
        yarn = {
            **{name: value for name, value in client.items() if name.startswith("yarn.")},
            **SCHEDULING,
            f"{_RM}recovery.enabled": "true",
            f"{_RM}store.class": (
                "org.apache.hadoop.yarn.server.resourcemanager.recovery.ZKRMStateStore"
            ),
            "hadoop.zk.address": f"{LOOPBACK}:{self.zookeeper.port}",
            "hadoop.zk.timeout-ms": "4000",
            f"{_RM}work-preserving-recovery.scheduling-wait-ms": "1000",
            **own,
        }
        core = {name: value for name, value in client.items() if name.startswith("ipc.")}
        write_conf(conf, yarn, default_fs=self.default_fs, core=core)
