"""What if a zombie's DROP reaches the metastore after the item was restored? It is added again."""

from datetime import datetime


def drop_repair(
    lake: str, *, db: str, table: str, partitions: list[str], now: datetime
) -> list[str]:
    """Add again what a DROP event took although a restore had brought it back; gives their names.

    Safe to call for any DROP event and more than once: only items that the catalogue says are
    restored, whose data stands at the live path and whose name is free, are added.
    """
    raise NotImplementedError
