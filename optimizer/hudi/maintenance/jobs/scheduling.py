"""Writes a plan of compaction, clustering or cleaning, without executing it."""

import time

from optimizer.hudi.maintenance.domain.tasks import ACTIONS, Service
from optimizer.hudi.maintenance.jobs.orders import Order, Result, Stop
from optimizer.hudi.maintenance.jobs.present import Present, present_of, with_slices
from optimizer.hudi.maintenance.jobs.rules import check_may
from optimizer.hudi.maintenance.jobs.writing import writing_client

_KINDS = {
    Service.COMPACTION: "COMPACT",
    Service.CLUSTERING: "CLUSTER",
    Service.CLEAN: "CLEAN",
}


def schedule(present: Present, order: Order, result: Result, check_stop: Stop) -> None:
    """Write one plan, if there is anything to plan.

    What a pending plan holds is in no second one, so that doing it twice plans nothing twice.

    Raises:
        PortalError: it may not be done, or what Hudi says.
    """
    check_may(with_slices(present) if order.service is Service.CLUSTERING else present, order)
    check_stop()
    started = time.monotonic()
    before = present.pending(ACTIONS[order.service])
    table = present.table
    kind = table.hudi.common.model.TableServiceType.valueOf(_KINDS[order.service])
    with writing_client(table, order) as client:
        client.scheduleTableService(table.hudi.common.util.Option.empty(), kind)
    now = present_of(table)
    seconds = time.monotonic() - started
    # Hudi names the plan only in some cases; the timeline has it in all.
    for digits in sorted(set(now.pending(ACTIONS[order.service])) - set(before)):
        one = now.instant(digits)
        if one is not None:
            result.add(one, seconds=seconds)
    if not result.done:
        result.notes.append("Hudi found nothing to plan.")
