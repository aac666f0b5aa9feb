"""A real HDFS with two NameNodes that share their edits over three journal nodes.

Two journal nodes live with the DataNode in a JVM that no test ends, the third in one that may.
Nothing fails over by itself: a test says when, and the JVM of the storage asks the NameNodes. Only
within `controlled` do failover controllers decide, over a ZooKeeper.
"""

import os
import signal
import socket
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from stack.errors import StackError
from stack.ledger import Ledger
from stack.places import CLASSES, JARS
from stack.process import LOOPBACK, SHORT_LIVED_JVM, free_port, port_answers, stop_still
from stack.servers.base import Server
from stack.servers.hdfs import GROUPS, LOG4J, data_node_site, is_operational
from stack.servers.metastore import site_xml

NAME_NODES = ("nn1", "nn2")
_JOURNALS = ("jn1", "jn2", "jn3")
_PROXIES = "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider"


class _Node(Server):
    """One JVM of the name service."""

    def __init__(self, name: str, var: Path, *, ledger: Ledger, arguments: Sequence[str]) -> None:
        self.name = name
        super().__init__(var, ledger=ledger)
        self.conf = var / "conf"
        self.heap = "256m"
        self.arguments = arguments
        self.java_options = ""

    def environment(self) -> Mapping[str, str]:
        """Return the environment with the JVM's further options."""
        options = {"JAVA_TOOL_OPTIONS": self.java_options} if self.java_options else {}
        return {**super().environment(), **options}

    def command(self) -> Sequence[str]:
        """Return the argv of the JVM."""
        return [
            *("java", f"-Xmx{self.heap}", "--add-opens=java.base/java.lang=ALL-UNNAMED"),
            *SHORT_LIVED_JVM,
            *("-cp", f"{CLASSES / 'ha-hdfs'}:{self.conf}:{JARS / 'hdfs'}/*"),
            *("HaHdfs", *self.arguments),
        ]


class HaHdfs:
    """A name service with two NameNodes, of which `start` makes the first one active."""

    host = LOOPBACK

    def __init__(
        self,
        var: Path,
        *,
        ledger: Ledger,
        service: str = "lake",
        core: Mapping[str, str] = MappingProxyType({}),
        hdfs: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`core` and `hdfs` are more properties of core-site.xml and hdfs-site.xml."""
        self.service = service
        self.directory = var / f"ha-{service}"
        self._more = (core, hdfs)
        self._control, self._keeper = free_port(), free_port()

        def node(name: str, *arguments: str) -> _Node:
            return _Node(name, self.directory, ledger=ledger, arguments=arguments)

        self._journals = {name: (free_port(), free_port()) for name in _JOURNALS}
        told = [
            f"{name},{self.host}:{port},{self.host}:{http_port}"
            for name, (port, http_port) in self._journals.items()
        ]
        self.storage = node("storage", "storage", str(self._control), *told[:-1])
        self.journal = node(_JOURNALS[-1], "journal", told[-1])
        self.journal.heap = "128m"
        self.nodes = {
            name: node(name, "namenode", name, order)
            for name, order in zip(NAME_NODES, ("first", "second"), strict=True)
        }
        self.controllers = node("controllers", "controllers", "zookeeper", str(self._keeper))
        self._http = {name: free_port() for name in NAME_NODES}
        self._data_ports = [free_port() for _ in range(3)]
        self._stopped: set[str] = set()

    @property
    def uri(self) -> str:
        """The file system's address, which names no NameNode."""
        return f"hdfs://{self.service}"

    def address(self, name: str) -> str:
        """Return a NameNode's host and port."""
        return f"{self.host}:{self.nodes[name].port}"

    def client_properties(self, addresses: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return what a client must know, with other `addresses` where lines lie between."""
        service = self.service
        return {
            "dfs.nameservices": service,
            f"dfs.ha.namenodes.{service}": ",".join(NAME_NODES),
            f"dfs.client.failover.proxy.provider.{service}": _PROXIES,
            **{
                f"dfs.namenode.rpc-address.{service}.{name}": (addresses or {}).get(
                    name, self.address(name)
                )
                for name in NAME_NODES
            },
        }

    # -- life ------------------------------------------------------------------------------

    def start(self) -> None:
        """Start every process; returns when the first NameNode is active and both could be."""
        self._write_configuration()
        self.storage.start()
        self._start_journal()
        self.storage.process.wait_until(self._answers, timeout_seconds=60)
        self.nodes["nn1"].start()
        self.nodes["nn1"].wait_ready(60)
        self.activate("nn1")
        self.nodes["nn2"].start()
        self.nodes["nn2"].wait_ready(60)
        self._wait_both()

    def stop(self) -> None:
        """End every process; twice does nothing."""
        for name in list(self._stopped):
            self.resume(name)
        for node in self.processes:
            node.kill()

    @property
    def processes(self) -> tuple[_Node, ...]:
        """All of its JVMs, whether they run or not."""
        return (self.controllers, *self.nodes.values(), self.journal, self.storage)

    @contextmanager
    def controlled(self) -> Iterator[None]:
        """Have failover controllers decide which NameNode is active; the first one is already.

        A NameNode that does not answer for five seconds has lost its turn.
        """
        self.controllers.start()
        try:
            # The last controller has its door open.
            self.controllers.wait_ready(60)
            yield
        finally:
            self.controllers.kill()

    def activate(self, name: str) -> None:
        """Make a NameNode active, whatever the other one is: its epoch ends with this."""
        self._ask("active", name, wanted="active")

    def retire(self, name: str) -> None:
        """Make a living NameNode a standby, as an orderly failover does first."""
        self._ask("standby", name, wanted="standby")

    def state(self, name: str) -> str:
        """Return `active`, `standby`, or why the NameNode did not answer."""
        return self._said("state", name)

    def kill(self, name: str) -> None:
        """End a NameNode as a crash does."""
        self.nodes[name].kill()

    def freeze(self, name: str) -> None:
        """Stop a NameNode in the middle of whatever it does (SIGSTOP)."""
        self._stopped.add(name)
        stop_still(self.nodes[name].process.pid)

    def resume(self, name: str) -> None:
        """Let a frozen NameNode go on (SIGCONT)."""
        self._stopped.discard(name)
        os.kill(self.nodes[name].process.pid, signal.SIGCONT)

    def bring_back(self, name: str) -> None:
        """Start a NameNode again that was killed or ended itself; it comes as a standby."""
        self.nodes[name].stop()
        self.nodes[name].start()
        self.nodes[name].wait_ready(60)
        self.nodes[name].process.wait_until(
            lambda: self.state(name) in ("active", "standby"), timeout_seconds=60
        )

    def mend(self) -> None:
        """Have both NameNodes alive again and the first one active, as after `start`."""
        self.recover()
        first, second = (self.state(name) for name in NAME_NODES)
        if first == second == "active":
            with ThreadPoolExecutor() as both:
                list(both.map(self.bring_back, NAME_NODES))
            self._wait_both()
        elif first == "active":
            return
        elif second == "active":
            self.retire("nn2")
        self.activate("nn1")

    def fail_over(self, how: str) -> None:
        """Let the active NameNode die (`dies`), freeze (`freezes`) or step back (`hands over`).

        The other one is active afterwards.
        """
        active, other = sorted(NAME_NODES, key=lambda name: self.state(name) != "active")
        {"dies": self.kill, "freezes": self.freeze, "hands over": self.retire}[how](active)
        self.activate(other)

    def recover(self) -> None:
        """Have both NameNodes and all journal nodes alive, whichever NameNode is active now.

        A frozen one is started anew: it would go on as if it were active still.
        """
        if not self.journal.process.is_alive():
            self._start_journal()
        for name in list(self._stopped):
            self._stopped.discard(name)
            self.kill(name)
        for name in NAME_NODES:
            if self.state(name) not in ("active", "standby"):
                self.bring_back(name)
        self._wait_both()

    def wait_operational(self, name: str) -> None:
        """Wait until a NameNode has left its safe mode and knows the DataNode."""
        self.nodes[name].process.wait_until(
            lambda: is_operational(self._http[name]), timeout_seconds=60
        )

    # -- inside ----------------------------------------------------------------------------

    def _start_journal(self) -> None:
        self.journal.start()
        port, _ = self._journals[_JOURNALS[-1]]
        self.journal.process.wait_until(lambda: port_answers(port), timeout_seconds=60)

    def _wait_both(self) -> None:
        """Wait until neither is in safe mode: a successor that is takes no edit, whoever asks."""
        for name in NAME_NODES:
            self.wait_operational(name)

    def _answers(self) -> bool:
        try:
            return self._said("state", "nn1") != ""
        except OSError:
            return False

    def _ask(self, state: str, name: str, *, wanted: str) -> None:
        said = self._said(state, name)
        if said != wanted:
            raise StackError(f"{name} did not become {wanted}: {said}")

    def _said(self, state: str, name: str) -> str:
        with socket.create_connection((LOOPBACK, self._control), timeout=30) as line:
            line.sendall(f"{state} {name}\n".encode())
            return line.makefile(encoding="utf-8").readline().strip()

    def _write_configuration(self) -> None:
        conf = self.directory / "conf"
        conf.mkdir(parents=True, exist_ok=True)
        more_core, more_hdfs = self._more
        core = {
            "fs.defaultFS": self.uri,
            "hadoop.tmp.dir": str(self.directory / "tmp"),
            "hadoop.user.group.static.mapping.overrides": GROUPS,
            # A dead NameNode is a fact to find out soon, not to wait for.
            "ipc.client.connect.max.retries": "1",
            **self._of_controllers(),
            **more_core,
        }
        (conf / "core-site.xml").write_text(site_xml(core), encoding="utf-8")
        hdfs = {**self._hdfs_site(), **more_hdfs}
        (conf / "hdfs-site.xml").write_text(site_xml(hdfs), encoding="utf-8")
        (conf / "log4j.properties").write_text(LOG4J, encoding="utf-8")

    def _hdfs_site(self) -> dict[str, str]:
        service, home = self.service, self.directory
        journals = ";".join(f"{self.host}:{port}" for port, _ in self._journals.values())
        return {
            **self.client_properties(),
            **{
                f"dfs.namenode.http-address.{service}.{name}": f"{self.host}:{port}"
                for name, port in self._http.items()
            },
            **{
                f"dfs.namenode.name.dir.{service}.{name}": f"file://{home / name / 'name'}"
                for name in NAME_NODES
            },
            "dfs.namenode.shared.edits.dir": f"qjournal://{journals}/{service}",
            "dfs.journalnode.edits.dir": str(home / "journal"),
            "dfs.ha.fencing.methods": "shell(/bin/true)",
            # Lets controllers decide; a person who forces a state is obeyed all the same.
            "dfs.ha.automatic-failover.enabled": "true",
            # Else a standby knows only what was written until two minutes ago, and its safe mode
            # ends no sooner: it waits for blocks of files that are gone.
            "dfs.ha.tail-edits.in-progress": "true",
            "dfs.ha.tail-edits.period": "200ms",
            **data_node_site(home, self._data_ports),
        }

    def _of_controllers(self) -> dict[str, str]:
        """Return what controllers read; they give a NameNode up in seconds, not in a minute."""
        last = NAME_NODES[-1]
        ports = {name: free_port() for name in NAME_NODES} | {last: self.controllers.port}
        return {
            **{f"dfs.ha.zkfc.port.{self.service}.{name}": str(ports[name]) for name in ports},
            "ha.zookeeper.quorum": f"{LOOPBACK}:{self._keeper}",
            "ha.health-monitor.rpc-timeout.ms": "5000",
            "ha.failover-controller.graceful-fence.rpc-timeout.ms": "2000",
            # Else the controller of a frozen NameNode waits for a picture of its threads.
            "dfs.ha.zkfc.nn.http.timeout.ms": "1000",
        }
