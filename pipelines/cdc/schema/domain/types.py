"""Column types of MySQL and MariaDB, read from their text, and the type that each has in the lake.

The text is that of `information_schema.columns.column_type`, or of a DDL statement: aliases
(`integer`, `numeric`, `double precision`) mean the same in both.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from pipelines.cdc.schema.domain.lexical import STRING, without_comments
from portal.lake.errors import RuleViolation

MOST_DIGITS = 38
"""Digits of the widest decimal of Spark and Hudi."""


class Kind(StrEnum):
    """What values of a type are."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    DOUBLE = "double"
    BIT = "bit"
    TEXT = "text"
    ENUM = "enum"
    SET = "set"
    JSON = "json"
    DATE = "date"
    DATETIME = "datetime"
    TIMESTAMP = "timestamp"
    TIME = "time"
    YEAR = "year"
    BINARY = "binary"
    GEOMETRY = "geometry"
    UUID = "uuid"
    INET4 = "inet4"
    INET6 = "inet6"


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A parsed type. Numbers that the text does not say are those that MySQL takes."""

    kind: Kind
    name: str
    """MySQL's name without an alias: `int`, `varchar`, `longblob`."""
    size: int = 0
    """Bits of an integer or bit, digits of a decimal, characters or bytes at most of others."""
    scale: int = 0
    """Digits of a decimal after its point, or of the fraction of a second."""
    is_unsigned: bool = False
    is_fixed: bool = False
    """Whether values have all their bytes (`binary(n)`)."""
    members: tuple[str, ...] = ()
    """Of an enum or set, in their order."""

    @property
    def bounds(self) -> tuple[int, int]:
        """The smallest and the greatest integer, of an integer or bit."""
        if self.is_unsigned or self.kind is Kind.BIT:
            return 0, (1 << self.size) - 1
        return -(1 << (self.size - 1)), (1 << (self.size - 1)) - 1


_BITS = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}
_TEXTS = {"tinytext": 255, "text": 65_535, "mediumtext": 16_777_215, "longtext": 4_294_967_295}
_BLOBS = {"tinyblob": 255, "blob": 65_535, "mediumblob": 16_777_215, "longblob": 4_294_967_295}
_GEOMETRIES = {
    *("geometry", "point", "linestring", "polygon", "multipoint", "multilinestring"),
    *("multipolygon", "geometrycollection", "geomcollection"),
}
_PLAIN = {
    "json": Kind.JSON,
    "date": Kind.DATE,
    "year": Kind.YEAR,
    "uuid": Kind.UUID,
    "inet4": Kind.INET4,
    "inet6": Kind.INET6,
}
_MOMENTS = {"datetime": Kind.DATETIME, "timestamp": Kind.TIMESTAMP, "time": Kind.TIME}
_ALIASES = {
    **{"bool": "tinyint", "boolean": "tinyint", "int1": "tinyint", "int2": "smallint"},
    **{"int3": "mediumint", "middleint": "mediumint", "int4": "int", "integer": "int"},
    **{"int8": "bigint", "dec": "decimal", "numeric": "decimal", "fixed": "decimal"},
    **{"number": "decimal", "float4": "float", "float8": "double", "real": "double"},
    **{"double precision": "double", "character": "char", "nchar": "char"},
    **{"national char": "char", "national character": "char", "char byte": "binary"},
    **{"char varying": "varchar", "character varying": "varchar", "nvarchar": "varchar"},
    **{"national varchar": "varchar", "national char varying": "varchar"},
    **{"national character varying": "varchar", "nchar varying": "varchar"},
    **{"nchar varchar": "varchar", "varcharacter": "varchar", "varchar2": "varchar"},
    **{"long": "mediumtext", "long varchar": "mediumtext", "long char varying": "mediumtext"},
    **{"long varbinary": "mediumblob", "clob": "longtext", "raw": "varbinary"},
    **{"vector": "varbinary"},
}
_NAMES = {*_BITS, *_TEXTS, *_BLOBS, *_GEOMETRIES, *_PLAIN, *_MOMENTS, *_ALIASES} | {
    *("decimal", "float", "double", "bit", "char", "varchar", "binary", "varbinary"),
    *("enum", "set", "serial"),
}
_MOST_WORDS = max(len(name.split()) for name in _NAMES)
_TYPE = re.compile(
    rf"(?P<words>[a-z0-9]+(?:\s+[a-z0-9]+)*)\s*(?:\((?P<inside>(?:{STRING}|[^()'\"])*)\))?"
    r"(?P<rest>[^()]*)",
    re.IGNORECASE | re.DOTALL,
)
_MEMBER = re.compile(STRING, re.DOTALL)
_ESCAPED = re.compile(r"\\(.)|''|\"\"", re.DOTALL)
_ESCAPES = {"0": "\0", "n": "\n", "r": "\r", "t": "\t", "b": "\b", "Z": "\x1a"}


def parse_type(text: str) -> ColumnType:
    """Parse a column's type.

    Raises:
        RuleViolation: `cdc.type`, where it is no type that can be captured.
    """
    found = _TYPE.fullmatch(without_comments(text).strip())
    if found is None:
        raise _refused(text, "it cannot be read")
    words = found["words"].lower().split()
    name = type_words(words)
    if not name:
        raise _refused(text, "no such type is known")
    rest = {*words[len(name.split()) :], *found["rest"].lower().split()}
    if "compressed" in rest:
        raise _refused(text, "compressed columns cannot be read from the binary log")
    try:
        return _typed(name, found["inside"] or "", rest)
    except ValueError:
        raise _refused(text, "its numbers cannot be read") from None


def type_words(words: list[str]) -> str:
    """Return the longest name of a type that words in lower case begin with; empty for none."""
    names = (" ".join(words[:count]) for count in range(_MOST_WORDS, 0, -1))
    return next((name for name in names if name in _NAMES), "")


def _typed(alias: str, inside: str, rest: set[str]) -> ColumnType:
    name = _ALIASES.get(alias, alias)
    if name in {"enum", "set"}:
        members = tuple(_unquoted(one) for one in _MEMBER.findall(inside))
        return ColumnType(Kind(name), name, members=members)
    numbers = [int(one) for one in inside.split(",")] if inside.strip() else []
    first = numbers[0] if numbers else None
    if name in {"binary", "byte"} or ("byte" in rest and name == "char"):
        return ColumnType(Kind.BINARY, "binary", first or 1, is_fixed=True)
    return _number(name, numbers, rest) or _other(name, alias, first)


def _number(name: str, numbers: list[int], rest: set[str]) -> ColumnType | None:
    is_unsigned = bool(rest & {"unsigned", "zerofill"})
    first = numbers[0] if numbers else None
    if name == "serial":
        return ColumnType(Kind.INTEGER, "bigint", 64, is_unsigned=True)
    if name in _BITS:
        return ColumnType(Kind.INTEGER, name, _BITS[name], is_unsigned=is_unsigned)
    if name == "decimal":
        scale = numbers[1] if len(numbers) > 1 else 0
        return ColumnType(Kind.DECIMAL, name, first or 10, scale, is_unsigned=is_unsigned)
    if name == "float" and not (len(numbers) == 1 and numbers[0] > 24):
        return ColumnType(Kind.FLOAT, name, 32, is_unsigned=is_unsigned)
    if name in {"float", "double"}:
        return ColumnType(Kind.DOUBLE, "double", 64, is_unsigned=is_unsigned)
    if name == "bit":
        return ColumnType(Kind.BIT, name, first or 1)
    return None


def _other(name: str, alias: str, first: int | None) -> ColumnType:
    if name in _TEXTS:
        return ColumnType(Kind.TEXT, name, _TEXTS[name])
    if name in _BLOBS:
        return ColumnType(Kind.BINARY, name, _BLOBS[name])
    if name in _GEOMETRIES:
        return ColumnType(Kind.GEOMETRY, name)
    if name in _PLAIN:
        return ColumnType(_PLAIN[name], name)
    if name in _MOMENTS:
        return ColumnType(_MOMENTS[name], name, scale=first or 0)
    if name == "varbinary":
        # A vector is so many floats of four bytes.
        size = (first or 0) * 4 if alias == "vector" else first or 0
        return ColumnType(Kind.BINARY, alias if alias == "vector" else name, size)
    return ColumnType(Kind.TEXT, name, first or 1)


def lake_type(column: ColumnType) -> str:
    """Return the type of Spark and Hudi that holds every value of a type."""
    match column.kind:
        case Kind.INTEGER if column.size == 64:
            return "decimal(20,0)" if column.is_unsigned else "bigint"
        case Kind.INTEGER:
            return "bigint" if column.is_unsigned and column.size == 32 else "int"
        case Kind.DECIMAL if column.size <= MOST_DIGITS:
            return f"decimal({column.size},{column.scale})"
        case Kind.FLOAT | Kind.DOUBLE | Kind.DATE:
            return column.kind.value
        case Kind.BIT if column.size == 64:
            return "decimal(20,0)"
        case Kind.BIT:
            return "boolean" if column.size == 1 else "bigint"
        case Kind.DATETIME | Kind.TIMESTAMP:
            return "timestamp"
        case Kind.YEAR:
            return "int"
        case Kind.BINARY | Kind.GEOMETRY:
            return "binary"
        case _:
            return "string"


def lake_note(column: ColumnType) -> str:
    """Say where the lake's type is another than a reader would expect; empty where it is not."""
    if column.kind is Kind.DECIMAL and column.size > MOST_DIGITS:
        return (
            f"decimal({column.size},{column.scale}) has more than {MOST_DIGITS} digits, so the"
            " lake has it as string."
        )
    if column.kind is Kind.TIME:
        return "The lake has no type for times beyond a day or below zero, so it is string."
    if column.kind is Kind.DATETIME:
        return "A datetime has no zone; the lake has it as if it were UTC."
    return ""


def _unquoted(quoted: str) -> str:
    def plain(found: re.Match[str]) -> str:
        letter: str | None = found[1]
        return _ESCAPES.get(letter, letter) if letter else found[0][0]

    return _ESCAPED.sub(plain, quoted[1:-1])


def _refused(text: str, reason: str) -> RuleViolation:
    return RuleViolation("cdc.type", f"{text[:200]!r} is no type of a column: {reason}.")
