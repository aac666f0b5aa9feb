"""A whole cluster that listens: in this process, for the server program and for tests."""

from types import TracebackType
from typing import Self

from stack.starrocks.cluster import Cluster
from stack.starrocks.front_end import NOT_LISTENING, Life
from stack.starrocks.hive import Hive
from stack.starrocks.link import Trouble, Weather
from stack.starrocks.listener import Listener
from stack.starrocks.spec import Member, Privilege, Spec, User


class RunningCluster:
    """Front ends that listen, and the switches of their faults."""

    def __init__(self, spec: Spec, *, hives: dict[str, Hive]) -> None:
        self.cluster = Cluster(spec, hives=hives)
        self._listeners = {fe.name: Listener(self.cluster, fe) for fe in self.cluster.front_ends}

    def __enter__(self) -> Self:
        for listener in self._listeners.values():
            if listener.fe.life not in NOT_LISTENING:
                listener.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for listener in self._listeners.values():
            listener.set_life(Life.DEAD)

    def addresses(self) -> list[tuple[str, int]]:
        """Return host and port of every front end, in the order of registration."""
        return [(fe.host, fe.port) for fe in self.cluster.front_ends]

    def set_life(self, front_end: str, life: Life) -> None:
        """Freeze, kill, let babble or run on."""
        self._listeners[self.cluster.front_end(front_end).name].set_life(life)

    def register(self, member: Member) -> str:
        """Add a front end and return its name; `set_life` starts it."""
        fe = self.cluster.register(member)
        self._listeners[fe.name] = Listener(self.cluster, fe)
        return fe.name

    def restart(self, front_end: str) -> None:
        """Kill and start again: the same address, empty caches."""
        self.set_life(front_end, Life.DEAD)
        self.set_life(front_end, Life.RUNNING)

    def set_weather(self, front_end: str | None, trouble: Trouble, *, delay: float = 0.0) -> None:
        """Change the way to the metastore of one front end, or of all."""
        chosen = (
            self.cluster.front_ends if front_end is None else [self.cluster.front_end(front_end)]
        )
        for fe in chosen:
            for link in fe.links.values():
                link.set_weather(Weather(trouble, delay))

    def set_user(self, name: str, password: str, privileges: frozenset[Privilege]) -> None:
        """Add or change a login."""
        self.cluster.users[name] = User(password, privileges)
