"""Two Hudi tables of shopping carts: their names, what their writer says, and what is wanted.

One is served: its writer schedules compactions, the portal executes them. Of the other everything
was left: plans pile up, a log is torn and a writer died in the middle of a commit. Nothing here
needs Spark.
"""

from collections.abc import Mapping

from portal.connectors.metastore import Metastore
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from stack.stack import LAKE

SERVED = TableName(LakeId(LAKE), "sales", "carts_served")
ILL = TableName(LakeId(LAKE), "sales", "carts_ill")
OWNER = "alice"
LOCK = "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"
POLICIES: Mapping[TableName, Mapping[str, object]] = {
    SERVED: {"is_on": True, "profile": "near-line", "commits": 3},
    # Off: people are to see what is wrong, and repair it with their own clicks.
    ILL: {"is_on": False, "profile": "near-line", "lock": LOCK, "minutes": 5, "stale_minutes": 10},
}

_BESIDE: Mapping[str, str] = {
    "hoodie.compact.inline": "false",
    "hoodie.metadata.enable": "false",
}
WRITER: Mapping[TableName, Mapping[str, str]] = {
    SERVED: {
        **_BESIDE,
        "hoodie.compact.schedule.inline": "true",
        "hoodie.compact.inline.max.delta.commits": "4",
    },
    ILL: {
        **_BESIDE,
        "hoodie.compact.inline.max.delta.commits": "1",
        "hoodie.clean.failed.writes.policy": "LAZY",
        "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
        "hoodie.write.lock.provider": LOCK,
        # A writer that died holds the lock for a minute, not for ever.
        "hoodie.write.lock.filesystem.expire": "1",
    },
}
"""What the writer of each table says of its services, and the table with it."""


def is_there(metastore: Metastore) -> bool:
    """Whether the lake has the tables; one that was made by an earlier version has none."""
    return metastore.table_or_none(ILL) is not None


def carts_own(metastore: Metastore) -> None:
    """Give both tables to their owner; twice is harmless."""
    for name in WRITER:
        table = metastore.table(name)
        table.owner = OWNER
        metastore.alter_table_keeping_times(name, table)
