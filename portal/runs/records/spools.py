"""Locations of the files of a run's epoch and of its driver's log."""

from pathlib import Path

from django.conf import settings

from portal.access.lakes import get_lake
from portal.runs.models import Run
from portal.spark import launch
from portal.spark.spool import Spool


def new_spool(run: Run) -> Spool:
    """Return the spool of the run's current epoch; nothing is made yet."""
    return Spool.for_run(get_lake(run.lake), str(run.pk), run.epoch)


def open_spool(run: Run) -> Spool:
    """Return the spool at the address that the run stored at submit."""
    return Spool.at(get_lake(run.lake), run.spool)


def log_file(run: Run, *, epoch: int | None = None) -> Path:
    """Return the log of the driver of an epoch, the current one by default, on its host."""
    return log_folder() / f"{run.pk}-{run.epoch if epoch is None else epoch}.log"


def log_folder() -> Path:
    """Return where this host keeps the logs of drivers that it launched."""
    return Path(settings.LAKEWARDEN_VAR) / "runs"


def heartbeat_file(run: Run) -> Path:
    """Return where the driver beats on the launching host."""
    return launch.heartbeat_file(log_file(run))
