"""How does every acting run end: sealed, settled, and fit to be ingested?"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from portal.runs.models import Run


def act_settle(
    run: Run, *, now: datetime, still_approved: Callable[[], bool] | None = None
) -> dict[str, Any]:
    """Seal a run's fences and settle every intent without done; gives counts. Twice = the same.

    The run's process must be gone (or its lease over for 60 s): StaleState `act.alive` otherwise.
    `still_approved` decides whether a half-done drop is finished or taken back.

    Raises:
        DataSafetyError: data is where no step could have put it; the red button is pressed.
    """
    raise NotImplementedError
