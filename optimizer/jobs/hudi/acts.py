"""What is done for a step of a service? The one place where the job tells them apart."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from optimizer.domain.hudi.tasks import Service, Step
from optimizer.jobs.hudi.cleaning import clean, list_clean
from optimizer.jobs.hudi.executing import execute
from optimizer.jobs.hudi.expiring import drop_old, list_old
from optimizer.jobs.hudi.orders import Order, Result, Stop
from optimizer.jobs.hudi.present import Present
from optimizer.jobs.hudi.recovering import bring_back, list_left_out
from optimizer.jobs.hudi.rolling_back import list_stuck, roll_back
from optimizer.jobs.hudi.scheduling import schedule

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
    """Give what an order asks for, not begun."""
    return ACTS[order.service, order.step]
