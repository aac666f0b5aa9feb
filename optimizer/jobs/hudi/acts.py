"""What is done for a step of a service? The one place where the job tells them apart."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from optimizer.domain.hudi.tasks import Service, Step
from optimizer.jobs.hudi.executing import execute
from optimizer.jobs.hudi.orders import Order, Result, Stop
from optimizer.jobs.hudi.present import Present
from optimizer.jobs.hudi.scheduling import schedule
from portal.lake.errors import RuleViolation

Act: TypeAlias = Callable[[Present, Order, Result, Stop], None]

ACTS: Mapping[tuple[Service, Step], Act] = {
    (Service.COMPACTION, Step.SCHEDULE): schedule,
    (Service.COMPACTION, Step.EXECUTE): execute,
    (Service.CLUSTERING, Step.SCHEDULE): schedule,
    (Service.CLUSTERING, Step.EXECUTE): execute,
}


def act_of(order: Order) -> Act:
    """Give what an order asks for, not begun.

    Raises:
        RuleViolation: `hudi.order`, this job does not do it.
    """
    found = ACTS.get((order.service, order.step))
    if found is None:
        raise RuleViolation("hudi.order", f"{order.service} is not done by this job.")
    return found
