"""How does an acting run get its fence, and a restore or purge the backups it works on?"""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from portal.act.models import BackupBatch
from portal.runs.models import Run


def act_prepare(run: Run, *, root: str, day: date, now: datetime) -> dict[str, Any]:
    """Make a drop run's fence; gives the request's {"root", "fence", "day"}. Twice = the same.

    Raises:
        DataSafetyError: the root's marker belongs to another deployment.
        ExternalFailure: the preflight (mkdir and rename both ways) did not pass.
        NotAllowed: the red button is pressed.
    """
    raise NotImplementedError


def restore_prepare(run: Run, *, batches: Sequence[BackupBatch], now: datetime) -> dict[str, Any]:
    """Claim the backups of a restore run; gives the request's {"claims": [...], "fences": [...]}.

    Raises:
        StaleState: `act.claimed` another run has the backup, `act.unsettled` its own run has not
            ended yet, `act.purged` it is gone.
    """
    raise NotImplementedError


def purge_prepare(run: Run, *, batches: Sequence[BackupBatch], now: datetime) -> dict[str, Any]:
    """Claim the backups of a purge run; gives the same form as `restore_prepare`."""
    raise NotImplementedError
