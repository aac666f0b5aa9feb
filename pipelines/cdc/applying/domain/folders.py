"""Names of the folders in which a pipeline keeps what belongs to a table: for admins alone.

    <folder of the pipeline>/tables/<folder of the table>/<kind>/*.parquet

| kind | rows |
|---|---|
| `waiting` | number of the batch, number of the schema, the record's line |
| `quarantine` | key, version, schema, time, what does not fit (reason, column, text), batch, line |
| `aside` | key, version, schema, time, column, text; below `of=<column>` |
| `tombstones` | key, version, time |
"""

import hashlib
from enum import StrEnum


class Kept(StrEnum):
    """What is kept of a table."""

    WAITING = "waiting"
    QUARANTINE = "quarantine"
    ASIDE = "aside"
    TOMBSTONES = "tombstones"


def folder_of(name: str, kind: Kept) -> tuple[str, ...]:
    """Return the folders of a source's table (`db.table`), whatever letters its name has."""
    digest = hashlib.sha256(name.encode()).hexdigest()[:16]
    return "tables", digest, kind.value
