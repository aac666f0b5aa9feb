"""Makes records of the changelog from rows: of the log, and of a full load."""

from collections.abc import Iterator, Sequence

from pipelines.cdc.capture.domain.events import Rows
from pipelines.cdc.capture.domain.loads import Chunk
from pipelines.cdc.capture.domain.row_images import key_of
from pipelines.cdc.changes.domain.positions import version_of_row
from pipelines.cdc.changes.domain.records import Change, Operation, Row
from pipelines.cdc.changes.domain.schemas import TableSchema


def changes_of(event: Rows) -> Iterator[Change]:
    """Yield the changes of a row event. A change of key is a delete, then a create."""
    schema, position = event.schema, str(event.end)
    db, table, number, at = schema.db, schema.table, schema.number, event.at
    first = version_of_row(event.start, size=event.size, row=0)
    for n, (before, after) in enumerate(event.rows):
        if n >= event.size - 1:
            version_of_row(event.start, size=event.size, row=n)  # refuses: it has no byte
        version = first + 2 * n
        old = key_of(before, schema.key) if before is not None else None
        new = key_of(after, schema.key) if after is not None else None
        if old is not None and new is not None and old != new:
            yield Change(db, table, "d", version, old, number, position, at, before)
            # The other half of the same place: see `positions`.
            yield Change(db, table, "c", version + 1, new, number, position, at, None, after)
            continue
        op: Operation = "u" if old and new else "c" if new is not None else "d"
        key: Row = new if new is not None else old or {}
        yield Change(db, table, op, version, key, number, position, at, before, after)


def reads_of(chunk: Chunk, schema: TableSchema) -> list[Change]:
    """Return the rows of a chunk as records; their version is that of its position."""
    version, position = chunk.position.version, str(chunk.position)
    db, table, number, key = schema.db, schema.table, schema.number, schema.key
    return [
        Change(*(db, table, "r", version, key_of(row, key), number, position, chunk.at), None, row)
        for row in chunk.rows
    ]


def repairs_of(chunk: Chunk, schema: TableSchema, keys: Sequence[Row]) -> list[Change]:
    """Return records of keys as the source has them: rows, and deletes of those that are not there.

    Their version is one above that of the position: the next change is newer still, and a row of
    the lake that was read at this position, and damaged since, is older.
    """
    version, position = chunk.position.version + 1, str(chunk.position)
    rows = {tuple(key_of(row, schema.key).values()): row for row in chunk.rows}
    db, table, number, at = schema.db, schema.table, schema.number, chunk.at
    found = []
    for key in keys:
        row = rows.get(tuple(key.values()))
        op: Operation = "d" if row is None else "r"
        found.append(Change(db, table, op, version, key, number, position, at, None, row))
    return found
