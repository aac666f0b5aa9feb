"""Reads the event of a binary log that describes a table's columns, before its rows.

With `binlog_row_metadata=FULL` it holds names, members of ENUM and SET, character sets and the
primary key as they were when the rows were written; otherwise only what decoding needs.
"""

from dataclasses import dataclass

from portal.lake.errors import ExternalFailure

TINY, SHORT, LONG, FLOAT, DOUBLE, TIMESTAMP, LONGLONG, INT24 = 1, 2, 3, 4, 5, 7, 8, 9
DATE, TIME, DATETIME, YEAR, NEWDATE, VARCHAR, BIT = 10, 11, 12, 13, 14, 15, 16
TIMESTAMP2, DATETIME2, TIME2 = 17, 18, 19
MARIADB_BLOB_COMPRESSED, MARIADB_VARCHAR_COMPRESSED = 140, 141
VECTOR, JSON, NEWDECIMAL, ENUM, SET = 242, 245, 246, 247, 248
TINY_BLOB, MEDIUM_BLOB, LONG_BLOB, BLOB, VAR_STRING, STRING, GEOMETRY = range(249, 256)

_ONE_BYTE = frozenset(
    {
        *(FLOAT, DOUBLE, TIMESTAMP2, DATETIME2, TIME2, BLOB, TINY_BLOB, MEDIUM_BLOB, LONG_BLOB),
        *(GEOMETRY, JSON, VECTOR, MARIADB_BLOB_COMPRESSED),
    }
)
_TWO_BYTES = frozenset(
    {VARCHAR, BIT, NEWDECIMAL, ENUM, SET, STRING, VAR_STRING, MARIADB_VARCHAR_COMPRESSED}
)
_NUMERIC = frozenset({TINY, SHORT, INT24, LONG, LONGLONG, NEWDECIMAL, FLOAT, DOUBLE, YEAR})
_CHARACTER = frozenset({STRING, VAR_STRING, VARCHAR, BLOB, TINY_BLOB, MEDIUM_BLOB, LONG_BLOB})
# A geometry has a character set in the log of MariaDB alone, as have compressed columns.
_MARIADB_CHARACTER = _CHARACTER | {GEOMETRY, MARIADB_BLOB_COMPRESSED, MARIADB_VARCHAR_COMPRESSED}

_KEYS = (8, 9)
_KEY_OF_PREFIXES = 9


@dataclass(frozen=True, slots=True)
class MapColumn:
    """A column as the log describes it; of `name`, `members` and `collation` what it tells."""

    type: int
    meta: int
    """Length in bytes, digits before and after the point, or digits of a fraction, by type."""
    is_nullable: bool
    is_unsigned: bool | None = None
    """None where the log does not say."""
    name: str = ""
    collation: int = 0
    """The server's number of it; 0 where the type has none or the log does not say."""
    members: tuple[bytes, ...] = ()
    is_invisible: bool = False


@dataclass(frozen=True, slots=True)
class TableMap:
    """A table as the rows after it were written."""

    table_id: int
    db: str
    table: str
    columns: tuple[MapColumn, ...]
    key: tuple[int, ...] | None
    """Places of the primary key's columns; None where the log does not say."""

    @property
    def has_names(self) -> bool:
        """Whether the log holds the columns' names."""
        return bool(self.columns and self.columns[0].name)


class _Reader:
    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data, self.at = data, at

    def take(self, n: int) -> bytes:
        self.at += n
        return self.data[self.at - n : self.at]

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def number(self) -> int:
        """Read a number of one to nine bytes, as the protocol packs lengths."""
        first = self.byte()
        size = {252: 2, 253: 3, 254: 8}.get(first)
        return first if size is None else int.from_bytes(self.take(size), "little")

    def text(self) -> bytes:
        return self.take(self.number())

    @property
    def is_done(self) -> bool:
        return self.at >= len(self.data)


def head_of(body: bytes) -> tuple[int, str, str]:
    """Return number, database and table of a table map's body, without reading its columns."""
    reader = _Reader(body)
    table_id = int.from_bytes(reader.take(6), "little")
    reader.take(2)
    db = reader.take(reader.byte()).decode()
    reader.take(1)
    table = reader.take(reader.byte()).decode()
    return table_id, db, table


def parse_table_map(body: bytes, *, is_mariadb: bool) -> TableMap:
    """Read the body of a table map, without its checksum.

    Raises:
        ExternalFailure: `cdc.event`, where it cannot be read.
    """
    table_id, db, table = head_of(body)
    try:
        return _parse(body, table_id, (db, table), is_mariadb=is_mariadb)
    except (IndexError, ValueError) as error:
        raise ExternalFailure(
            "cdc.event",
            f"The binary log's description of {db}.{table} cannot be read: {error}.",
            service="mysql",
            retryable=False,
        ) from error


def _parse(body: bytes, table_id: int, name: tuple[str, str], *, is_mariadb: bool) -> TableMap:
    reader = _Reader(body, 8)
    reader.take(reader.byte() + 1)
    reader.take(reader.byte() + 1)
    types = reader.take(reader.number())
    meta = _Reader(reader.text())
    kinds = [_kind(one, meta) for one in types]
    nullable = reader.take((len(types) + 7) // 8)
    told = _Told(kinds, is_mariadb=is_mariadb)
    while not reader.is_done:
        told.read(reader.byte(), _Reader(reader.text()))
    columns = tuple(
        MapColumn(
            kind,
            value,
            is_nullable=bool(nullable[place // 8] >> (place % 8) & 1),
            is_unsigned=told.unsigned.get(place),
            name=told.names[place] if told.names else "",
            collation=told.collations.get(place, 0),
            members=told.members.get(place, ()),
            is_invisible=told.invisible.get(place, False),
        )
        for place, (kind, value) in enumerate(kinds)
    )
    # A log that has names also says the key, unless there is none.
    key = told.key if told.key or told.names else None
    return TableMap(table_id, *name, columns, key)


def _kind(kind: int, meta: _Reader) -> tuple[int, int]:
    """Read a column's own bytes; a STRING tells by them that it is an ENUM or a SET."""
    if kind in _ONE_BYTE:
        return kind, meta.byte()
    if kind not in _TWO_BYTES:
        return kind, 0
    first, second = meta.byte(), meta.byte()
    if kind in (VARCHAR, MARIADB_VARCHAR_COMPRESSED):
        return kind, first | second << 8
    if kind == BIT:
        return kind, first + second * 8
    if kind == NEWDECIMAL:
        return kind, first << 8 | second
    if first in (ENUM, SET):
        return first, second
    # Two bits of the length are hidden, turned over, in the type's own byte.
    return STRING, ((first & 0x30) ^ 0x30) << 4 | second


class _Told:
    """What the optional part of a table map tells, by the columns' places."""

    def __init__(self, kinds: list[tuple[int, int]], *, is_mariadb: bool) -> None:
        with_text = _MARIADB_CHARACTER if is_mariadb else _CHARACTER
        places = list(enumerate(kind for kind, _ in kinds))
        self._all = [place for place, _ in places]
        self._numeric = [place for place, kind in places if kind in _NUMERIC]
        self._text = [place for place, kind in places if kind in with_text]
        self._named = [place for place, kind in places if kind in (ENUM, SET)]
        self._enums = [place for place, kind in places if kind == ENUM]
        self._sets = [place for place, kind in places if kind == SET]
        self.unsigned: dict[int, bool] = {}
        self.invisible: dict[int, bool] = {}
        self.collations: dict[int, int] = {}
        self.members: dict[int, tuple[bytes, ...]] = {}
        self.names: list[str] = []
        self.key: tuple[int, ...] = ()

    def read(self, field: int, data: _Reader) -> None:
        """Take one field in; an unknown one is left, as a newer server may send more."""
        if field in _KEYS:
            while not data.is_done:
                self.key += (data.number(),)
                if field == _KEY_OF_PREFIXES:
                    data.number()  # the length of the prefix
        elif field in (2, 10):
            self._default(self._text if field == 2 else self._named, data)
        elif field in (3, 11):
            places = self._text if field == 3 else self._named
            self.collations |= {place: data.number() for place in places}
        elif field in (5, 6):
            for place in self._sets if field == 5 else self._enums:
                self.members[place] = tuple(data.text() for _ in range(data.number()))
        else:
            self._plain(field, data)

    def _plain(self, field: int, data: _Reader) -> None:
        if field == 1:
            self.unsigned = _bits(self._numeric, data)
        elif field == 4:
            while not data.is_done:
                self.names.append(data.text().decode())
        elif field == 12:
            visible = _bits(self._all, data)
            self.invisible = {place: not one for place, one in visible.items()}

    def _default(self, places: list[int], data: _Reader) -> None:
        self.collations |= dict.fromkeys(places, data.number())
        while not data.is_done:
            place = places[data.number()]
            self.collations[place] = data.number()


def _bits(places: list[int], data: _Reader) -> dict[int, bool]:
    return {place: bool(data.data[n // 8] & (0x80 >> n % 8)) for n, place in enumerate(places)}
