"""Compares a table as its schema has it with the same table as a table map describes it.

Exact from a map with names: names, order, whether columns may be NULL, the primary key, numbers
and their signs, digits, lengths, character sets, members. A map does not have defaults, comments,
generation, and it shows `uuid` and `inet6` as `binary(16)`: those come from the server, which may
already be further than the log.
"""

from collections.abc import Mapping

from pipelines.cdc.capture.domain import table_maps as maps
from pipelines.cdc.capture.domain.charsets import decoder
from pipelines.cdc.capture.domain.table_maps import MapColumn, TableMap
from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.schema.domain.types import ColumnType, Kind, parse_type

Charsets = Mapping[int, str]
"""Names of character sets by the server's numbers of collations."""

Shape = tuple[int, int, bool, str, tuple[str, ...]]

_BITS = {8: maps.TINY, 16: maps.SHORT, 24: maps.INT24, 32: maps.LONG, 64: maps.LONGLONG}
_INTEGER_NAMES = {
    maps.TINY: "tinyint",
    maps.SHORT: "smallint",
    maps.INT24: "mediumint",
    maps.LONG: "int",
    maps.LONGLONG: "bigint",
}
_LENGTHS = {"tiny": 1, "": 2, "medium": 3, "long": 4}
_OLD = {maps.DATETIME: maps.DATETIME2, maps.TIMESTAMP: maps.TIMESTAMP2, maps.TIME: maps.TIME2}
_SAME = {**_OLD, maps.NEWDATE: maps.DATE, maps.VAR_STRING: maps.VARCHAR}
_BYTES = {
    **dict.fromkeys(("utf8mb4", "utf16", "utf16le", "utf32", "gb18030"), 4),
    **dict.fromkeys(("utf8", "utf8mb3", "ujis", "eucjpms"), 3),
    **dict.fromkeys(("ucs2", "big5", "gbk", "gb2312", "euckr", "sjis", "cp932"), 2),
}
_CLOCKS = {
    Kind.DATETIME: maps.DATETIME2,
    Kind.TIMESTAMP: maps.TIMESTAMP2,
    Kind.TIME: maps.TIME2,
}
_FIXED = {
    **{Kind.FLOAT: (maps.FLOAT, 4), Kind.DOUBLE: (maps.DOUBLE, 8), Kind.JSON: (maps.JSON, 4)},
    **{Kind.ENUM: (maps.ENUM, 0), Kind.SET: (maps.SET, 0), Kind.GEOMETRY: (maps.GEOMETRY, 0)},
    **{Kind.DATE: (maps.DATE, 0), Kind.YEAR: (maps.YEAR, 0)},
}
_NAMELESS = {Kind.UUID: 16, Kind.INET6: 16, Kind.INET4: 4}


def agrees(table: TableMap, schema: TableSchema, charsets: Charsets) -> bool:
    """Whether rows of a table map can have been written under a schema."""
    if len(table.columns) != len(schema.columns):
        return False
    if table.has_names and table.key is not None:
        names = [one.name for one in table.columns]
        if names != list(schema.names) or [names[n] for n in table.key] != list(schema.key):
            return False
    return all(
        column_agrees(told, column, charsets)
        for told, column in zip(table.columns, schema.columns, strict=True)
    )


def column_agrees(told: MapColumn, column: Column, charsets: Charsets) -> bool:
    """Whether a column of a table map is one of a schema, apart from its name."""
    if told.is_nullable != column.is_nullable:
        return False
    kind = parse_type(column.type)
    charset = charsets.get(told.collation) or column.charset
    wanted = _shape(kind, column.charset)
    shape = _told_shape(told, kind, charset)
    return shape == wanted


def _told_shape(told: MapColumn, kind: ColumnType, charset: str) -> Shape:
    """Return the shape of a told column; what the log does not tell is as the other side says."""
    code = _SAME.get(told.type, told.type)
    is_text = kind.kind in (Kind.TEXT, Kind.ENUM, Kind.SET) and bool(charset)
    return (
        code,
        0 if told.type in (maps.ENUM, maps.SET, maps.GEOMETRY) else told.meta,
        _is_unsigned(told, kind) if code in _INTEGER_NAMES else False,
        charset if is_text else "",
        _members(told, charset) or kind.members,
    )


def _is_unsigned(told: MapColumn, kind: ColumnType) -> bool:
    return kind.is_unsigned if told.is_unsigned is None else told.is_unsigned


def _members(told: MapColumn, charset: str) -> tuple[str, ...]:
    return tuple(map(decoder(charset or "utf8mb4"), told.members)) if told.members else ()


def _shape(kind: ColumnType, charset: str) -> Shape:
    code, meta = _code(kind, charset)
    is_text = kind.kind in (Kind.TEXT, Kind.ENUM, Kind.SET)
    is_unsigned = kind.is_unsigned and kind.kind is Kind.INTEGER
    return code, meta, is_unsigned, charset if is_text else "", kind.members


def _code(kind: ColumnType, charset: str) -> tuple[int, int]:
    match kind.kind:
        case Kind.INTEGER:
            return _BITS[kind.size], 0
        case Kind.DECIMAL:
            return maps.NEWDECIMAL, kind.size << 8 | kind.scale
        case Kind.BIT:
            return maps.BIT, kind.size
        case Kind.DATETIME | Kind.TIMESTAMP | Kind.TIME:
            return _CLOCKS[kind.kind], kind.scale
        case Kind.UUID | Kind.INET4 | Kind.INET6:
            return maps.STRING, _NAMELESS[kind.kind]
    return _FIXED.get(kind.kind) or _string_code(kind, charset)


def _string_code(kind: ColumnType, charset: str) -> tuple[int, int]:
    for word in ("text", "blob"):
        if kind.name.endswith(word):
            return maps.BLOB, _LENGTHS[kind.name.removesuffix(word)]
    n_bytes = kind.size * _BYTES.get(charset, 1)
    return (maps.STRING if kind.name in ("char", "binary") else maps.VARCHAR), n_bytes


def columns_of(table: TableMap, hints: list[Column], charsets: Charsets) -> tuple[Column, ...]:
    """Return the columns that a table map with names describes.

    `hints` are columns as the server or an earlier schema has them: the first of the same name and
    shape gives what the map does not tell.
    """
    found = []
    for told in table.columns:
        fitting = (
            hint for hint in hints if hint.name == told.name and column_agrees(told, hint, charsets)
        )
        found.append(next(fitting, None) or _derived(told, charsets))
    return tuple(found)


def _derived(told: MapColumn, charsets: Charsets) -> Column:
    charset = charsets.get(told.collation, "")
    is_binary = charset in ("", "binary")
    return Column(
        told.name,
        _type_text(told, charset, is_binary=is_binary),
        is_nullable=told.is_nullable,
        is_invisible=told.is_invisible,
        charset="" if is_binary else charset,
    )


def _type_text(told: MapColumn, charset: str, *, is_binary: bool) -> str:
    code, meta = _SAME.get(told.type, told.type), told.meta
    if code in _INTEGER_NAMES:
        return _INTEGER_NAMES[code] + (" unsigned" if told.is_unsigned else "")
    if code in (maps.ENUM, maps.SET):
        # A quote inside of a member is doubled, as the server writes it.
        texts = (one.replace("'", "''") for one in _members(told, charset))
        members = ",".join(f"'{one}'" for one in texts)
        return f"{'enum' if code == maps.ENUM else 'set'}({members})"
    if code == maps.BLOB:
        size = {1: "tiny", 2: "", 3: "medium", 4: "long"}[meta]
        return f"{size}{'blob' if is_binary else 'text'}"
    if code in (maps.STRING, maps.VARCHAR):
        name = "binary" if is_binary else "char"
        prefix = "var" if code == maps.VARCHAR else ""
        return f"{prefix}{name}({meta // _BYTES.get(charset, 1)})"
    fraction = f"({meta})" if meta else ""
    return {
        maps.NEWDECIMAL: f"decimal({meta >> 8},{meta & 0xFF})",
        maps.BIT: f"bit({meta})",
        maps.FLOAT: "float",
        maps.DOUBLE: "double",
        maps.DATE: "date",
        maps.YEAR: "year",
        maps.JSON: "json",
        maps.GEOMETRY: "geometry",
        maps.DATETIME2: f"datetime{fraction}",
        maps.TIMESTAMP2: f"timestamp{fraction}",
        maps.TIME2: f"time{fraction}",
    }.get(code, f"unknown type {code}")
