"""Simulated StarRocks front ends as a server of the stack, over the stack's own metastore."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from stack.ledger import Ledger
from stack.process import free_port
from stack.servers.base import Server
from stack.starrocks.control import ask, serve
from stack.starrocks.front_end import Life
from stack.starrocks.hive import Hive
from stack.starrocks.link import Trouble
from stack.starrocks.running import RunningCluster
from stack.starrocks.spec import Privilege, ResourceTable, Spec, from_json
from stack.starrocks.thrift_hive import ThriftHive


class StarRocks(Server):
    """One cluster in one process; `port` is that of its switches, front ends have their own."""

    name = "starrocks"
    ready_seconds = 30.0

    def __init__(self, var: Path, *, ledger: Ledger, spec: Spec, name: str = "starrocks") -> None:
        self.name = name
        super().__init__(var, ledger=ledger)
        members = [
            replace(member, port=member.port or free_port(member.host)) for member in spec.members
        ]
        self.spec = replace(spec, members=tuple(members))

    @property
    def addresses(self) -> list[tuple[str, int]]:
        """Host and port of every front end; they outlast a restart."""
        return [(member.host, member.port) for member in self.spec.members]

    @property
    def _file(self) -> Path:
        return self.directory / "cluster.json"

    def prepare(self) -> None:
        """Write what the cluster is made of, passwords included."""
        super().prepare()
        self._file.touch(mode=0o600)
        self._file.write_text(json.dumps(self.spec.as_json()), encoding="utf-8")

    def command(self) -> Sequence[str]:
        """Return the argv of the simulator."""
        return [sys.executable, "-m", "stack.servers.starrocks", str(self._file), str(self.port)]

    def environment(self) -> dict[str, str]:
        """Let the module be found from any working directory."""
        root = str(Path(__file__).resolve().parents[2])
        return {**self.ledger.environment(), "PYTHONPATH": root}

    # -- its faults ------------------------------------------------------------------------

    def set_life(self, front_end: str, life: Life) -> None:
        """Freeze, kill, let babble or run on; a front end is named by its host."""
        ask(self.port, "life", front_end=front_end, life=life)

    def restart_front_end(self, front_end: str) -> None:
        """Kill and start again: the same address, empty caches."""
        ask(self.port, "restart", front_end=front_end)

    def set_weather(
        self, front_end: str | None, trouble: Trouble = Trouble.NONE, *, delay: float = 0.0
    ) -> None:
        """Change the way to the metastore of one front end, or of all."""
        ask(self.port, "weather", front_end=front_end, trouble=trouble, delay=delay)

    def set_user(self, name: str, password: str, privileges: frozenset[Privilege]) -> None:
        """Add or change a login."""
        ask(self.port, "user", name=name, password=password, privileges=sorted(privileges))

    def add_table(self, table: ResourceTable) -> None:
        """Add a table on a resource to a cluster of 2.2, as CREATE EXTERNAL TABLE would."""
        ask(self.port, "table", **asdict(table))

    # -- what it saw -----------------------------------------------------------------------

    def calls(self) -> Mapping[str, Mapping[str, int]]:
        """Return the calls to the metastore by front end."""
        counted: Mapping[str, Mapping[str, int]] = ask(self.port, "calls")
        return counted

    def audit(self) -> list[dict[str, Any]]:
        """Return the statements that front ends took, oldest first."""
        entries: list[dict[str, Any]] = ask(self.port, "audit")
        return entries


def main() -> None:
    """Serve until killed."""
    spec = from_json(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    timeout = spec.timings.metastore_timeout
    hives: dict[str, Hive] = {
        uris: ThriftHive(uris, timeout_seconds=timeout, access=spec.access) for uris in spec.uris
    }
    with RunningCluster(spec, hives=hives) as running:
        serve(running, port=int(sys.argv[2]))


if __name__ == "__main__":
    main()
