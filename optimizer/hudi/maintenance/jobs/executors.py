"""Maps a service step to its action. It is the one place where the job tells them apart."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from optimizer.hudi.maintenance.domain.tasks import Service, Step
from optimizer.hudi.maintenance.jobs.cleaning import clean, list_clean
from optimizer.hudi.maintenance.jobs.executing import execute
from optimizer.hudi.maintenance.jobs.expiring import drop_old, list_old
from optimizer.hudi.maintenance.jobs.orders import Order, Result, Stop
from optimizer.hudi.maintenance.jobs.present import Present
from optimizer.hudi.maintenance.jobs.recovering import bring_back, list_left_out
from optimizer.hudi.maintenance.jobs.rolling_back import list_stuck, roll_back
from optimizer.hudi.maintenance.jobs.scheduling import schedule

Act: TypeAlias = Callable[[Present, Order, Result, Stop], None]

ACTS: Mapping[tuple[Service, Step], Act] = {
    (Service.COMPACTION, Step.SCHEDULE): schedule,
    (Service.COMPACTION, Step.EXECUTE): execute,
    (Service.CLUSTERING, Step.SCHEDULE): schedule,
    (Service.CLUSTERING, Step.EXECUTE): execute,
    (Service.CLEAN, Step.SCHEDULE): list_clean,
    (Service.CLEAN, Step.EXECUTE): clean,
    (Service.ROLLBACK, Step.SCHEDULE): list_stuck,
    (Service.ROLLBACK, Step.EXECUTE): roll_back,
    (Service.RECOVERY, Step.SCHEDULE): list_left_out,
    (Service.RECOVERY, Step.EXECUTE): bring_back,
    (Service.TTL, Step.SCHEDULE): list_old,
    (Service.TTL, Step.EXECUTE): drop_old,
}


def act_of(order: Order) -> Act:
    """Return what an order asks for, not begun."""
    return ACTS[order.service, order.step]
