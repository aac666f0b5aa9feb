"""When what failed is tried again: after a pause that grows with each failure in a row."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pipelines.cdc.applying.domain.messages import Failure
from portal.lake.errors import PortalError
from portal.reliability.retry import backoff

_FIRST, _LONGEST = timedelta(seconds=5), timedelta(minutes=5)


@dataclass
class Attempts:
    """The failures of a pipeline or a table since it last went well."""

    failure: Failure | None = None
    _n_failed: int = 0
    _next_at: float = 0.0

    @property
    def is_due(self) -> bool:
        """Whether it may be tried now."""
        return time.monotonic() >= self._next_at

    def failed(self, error: PortalError, *, at_once: bool = False) -> None:
        """Note why it failed; `at_once` has it tried without a pause."""
        self.failure = Failure(error.code, error.message, datetime.now(UTC).isoformat())
        if at_once:
            self.hurry()
            return
        self._n_failed += 1
        wait = backoff(self._n_failed, first=_FIRST, longest=_LONGEST)
        self._next_at = time.monotonic() + wait.total_seconds()

    def went_well(self) -> None:
        """Forget the failures."""
        self.failure, self._n_failed = None, 0

    def hurry(self) -> None:
        """Have it tried at once."""
        self._next_at = 0.0
