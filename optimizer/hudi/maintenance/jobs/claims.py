"""Prevents two executors of one plan from running it at once, without a lock.

Hudi rolls back what another has begun and begins again, and the first one's files are gone under
its commit. So whoever executes an instant holds it by the heartbeat that Hudi itself knows: a file
that is made only where there is none, and touched as long as its owner lives.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from optimizer.hudi.inspect.domain.facts import Action, Instant
from optimizer.hudi.maintenance.jobs.orders import Order
from optimizer.hudi.tables.jobs.errors import at_work
from optimizer.hudi.tables.jobs.table import OpenedTable
from portal.spark.java_errors import JAVA_ERRORS

# What Hudi holds so by itself where a lock is shared.
_HELD_BY_HUDI = frozenset({Action.COMPACTION})
_NEW_ONLY = False


@contextmanager
def claimed(table: OpenedTable, order: Order, one: Instant, client: Any) -> Iterator[None]:
    """Hold an instant, of which nobody is heard any more, while it is executed.

    Raises:
        StaleState: `hudi.at_work`, somebody was quicker.
    """
    if order.lock and one.action in _HELD_BY_HUDI:
        yield
        return
    _take(table, order, one)
    beats = client.getHeartbeatClient()
    try:
        beats.start(one.instant)
        yield
    finally:
        # Not to stop it is no harm: it falls silent with this process.
        with suppress(*JAVA_ERRORS):
            beats.stop(one.instant)


def _take(table: OpenedTable, order: Order, one: Instant) -> None:
    storage = table.java.getStorage()
    path = table.path(".hoodie", ".heartbeat", one.instant)
    if one.heartbeat_at is not None:
        storage.deleteFile(path)
    try:
        storage.create(path, _NEW_ONLY).close()
    except JAVA_ERRORS as error:
        if not storage.exists(path):
            raise
        words = f"{one.action} {one.instant} was begun by somebody else a moment ago."
        raise at_work(order.name, words) from error
