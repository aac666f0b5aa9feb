"""Named steps at which a test can kill or stop an acting process. Never active in real use.

`LW_FAILPOINT=step:before|after|send:kill|stop[:nth]` is honoured only while
`LW_FAILPOINTS_ENABLED=1`.
"""

import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from portal.lake.errors import RuleViolation

_SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}
# `send`: between the last look and the call itself, which no fence can cover.
_MOMENTS = ("before", "after", "send")


class Failpoints:
    """Counts the moments that a process reaches and strikes at the one that was asked for."""

    def __init__(self, spec: str | None = None) -> None:
        self._moment = ""
        self._signal = signal.SIGKILL
        self._left = 0
        if spec:
            step, moment, action, *nth = spec.split(":")
            if moment not in _MOMENTS or action not in _SIGNALS:
                raise RuleViolation("failpoint.spec", f"{spec!r} is no failpoint.")
            self._moment = f"{step}:{moment}"
            self._signal = _SIGNALS[action]
            self._left = int(nth[0]) if nth else 1

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "Failpoints":
        """Read the asked failpoint; without the enabling variable there is none."""
        values = os.environ if environment is None else environment
        enabled = values.get("LW_FAILPOINTS_ENABLED") == "1"
        return cls(values.get("LW_FAILPOINT") if enabled else None)

    def reach(self, moment: str) -> None:
        """Say that `step:before` or `step:after` has been reached."""
        if moment == self._moment and self._left:
            self._left -= 1
            if not self._left:
                os.kill(os.getpid(), self._signal)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Surround one step of the protocol."""
        self.reach(f"{name}:before")
        yield
        self.reach(f"{name}:after")
