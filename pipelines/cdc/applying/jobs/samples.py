"""Tells what is in quarantine and aside, without anything that is protected."""

from pipelines.cdc.applying.domain.hudi_settings import VERSION, key_columns
from pipelines.cdc.applying.domain.messages import Quarantined, TableOrder
from pipelines.cdc.applying.jobs.kept import KeptFiles

MOST = 20
_LONGEST = 100


def quarantined(kept: KeptFiles, order: TableOrder) -> tuple[int, tuple[Quarantined, ...]]:
    """Return how many records are in quarantine, and the newest of them."""
    files = kept.files()
    if not files:
        return 0, ()
    rows = kept.read(files)
    n = rows.select("id", "version", "value").distinct().count()
    newest = rows.orderBy("version", ascending=False).limit(MOST).collect()
    is_hidden = bool(set(key_columns(order)) & order.protections.keys())
    return n, tuple(
        Quarantined(
            reason=one["reason"],
            at=row["at"],
            schema=row["schema"],
            column=one["column"],
            key=None if is_hidden else row["id"],
            text=_shown(one["column"], one["text"], order, is_key_hidden=is_hidden),
        )
        for row in newest
        for one in row["unfit"]
    )


def aside_counts(kept: KeptFiles) -> dict[str, int]:
    """Return how many values are kept aside of each column of the source.

    Those that were written twice, because a program was killed in between, count once.
    """
    files = kept.files()
    if not files:
        return {}
    rows = kept.read(files).select("column", "id", VERSION).distinct()
    counted = rows.groupBy("column").count().collect()
    return {row["column"]: row["count"] for row in sorted(counted)}


def _shown(column: str, text: str | None, order: TableOrder, *, is_key_hidden: bool) -> str | None:
    """A record may be in quarantine since before its column was protected."""
    if text is None or column in order.protections or (is_key_hidden and column not in _own(order)):
        return None
    return text[:_LONGEST]


def _own(order: TableOrder) -> set[str]:
    return {one.name for one in order.columns}
