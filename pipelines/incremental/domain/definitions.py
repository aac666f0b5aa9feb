"""The definition of a layer, and what must hold of one by itself."""

import re
from collections.abc import Collection
from typing import Any, Literal

import msgspec

from pipelines.incremental.domain.statements import carried, check_statement, has_star
from portal.lake.errors import RuleViolation
from portal.lake.names import check_identifier

MOST_SOURCES = 20
LEAST_MINUTES, MOST_MINUTES = 1, 60 * 24 * 31
MOST_LATENESS = 60 * 24 * 7
LONGEST_STATEMENT = 64 * 1024
_FUNCTION = re.compile(r"([A-Za-z_][A-Za-z0-9_.]*):([A-Za-z_][A-Za-z0-9_]*)\Z")


class Source(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A table that a layer reads: its changes, or (static) as it is."""

    table: str
    is_static: bool = False


class Layer(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How a table is kept from the changes of another one, joined with static ones."""

    target: str
    sources: tuple[Source, ...]
    key: tuple[str, ...]
    """Columns of the result that tell its rows apart."""
    sql: str = ""
    function: str = ""
    """`module:name` of a PySpark function, instead of SQL."""
    version: str = ""
    """A column of the result: of rows with one key that with the greatest stays. Without one the
    key tells all rows of the result apart."""
    partition: str = ""
    event_time: str = ""
    """A column of the source that changes, which says how far it is."""
    lateness_minutes: int = 0
    """How much later than others a row may come; the watermark stays that far behind."""
    kind: Literal["COW", "MOR"] = "COW"

    @property
    def changing(self) -> str:
        """The source whose changes it follows."""
        return next(one.table for one in self.sources if not one.is_static)

    @property
    def static(self) -> tuple[str, ...]:
        """The sources that it reads as they are."""
        return tuple(one.table for one in self.sources if one.is_static)


def check_layer(layer: Layer, *, modules: Collection[str] = ()) -> None:
    """Refuse a definition that cannot be kept, whatever the tables are.

    `modules` are those whose functions may be used.

    Raises:
        RuleViolation: `layer.definition` or `layer.statement`, with the field.
        RuleViolation: `name.grammar`, `name.table`.
    """
    names = [one.table for one in layer.sources]
    for name in (layer.target, *names):
        _check_table(name)
    if len([one for one in layer.sources if not one.is_static]) != 1:
        raise _wrong(
            "sources",
            "Name one source whose changes it follows; declare the others static. Two tables that "
            "change are joined by two layers, one after the other.",
        )
    if len(names) > MOST_SOURCES or len(set(names)) != len(names):
        raise _wrong("sources", f"Name each source once, at most {MOST_SOURCES}.")
    if layer.target in names:
        raise _wrong("target", f"{layer.target} is one of its own sources.")
    _check_columns(layer)
    if not 0 <= layer.lateness_minutes <= MOST_LATENESS:
        raise _wrong("lateness_minutes", f"Rows may be 0 to {MOST_LATENESS:,} minutes late.")
    if bool(layer.sql.strip()) == bool(layer.function):
        raise _wrong("sql", "Give either SQL or a function.")
    if layer.function:
        check_function(layer.function, modules)
        return
    if len(layer.sql.encode()) > LONGEST_STATEMENT:
        raise _wrong("sql", "The statement is longer than 64 KiB.")
    check_statement(layer.sql, changing=layer.changing, static=layer.static)


def check_function(name: str, modules: Collection[str]) -> tuple[str, str]:
    """Return module and name of a function of a module that the settings list.

    Raises:
        RuleViolation: `layer.definition`.
    """
    match = _FUNCTION.match(name)
    if match is None:
        raise _wrong("function", f"{name!r} is not of the form module:name.")
    if match.group(1) not in modules:
        raise _wrong(
            "function",
            f"The module {match.group(1)} is not listed. An operator lists modules of functions "
            "in LAYER_MODULES of the settings.",
        )
    return match.group(1), match.group(2)


def check_key(layer: Layer, record_key: Collection[str]) -> None:
    """Refuse a key by which two rows of the source could become one row of the target.

    `record_key` are the source's. With a version the greatest stays, so they may; a function or a
    subquery does not say where columns go.

    Raises:
        RuleViolation: `layer.key`.
    """
    if layer.version or not layer.sql:
        return
    if has_star(layer.sql):
        lacking = set(record_key) - set(layer.key)
    else:
        taken = carried(layer.sql)
        if not taken:
            return
        lacking = {one for one in record_key if taken.get(one.lower(), "") not in layer.key}
    if lacking:
        raise RuleViolation(
            "layer.key",
            f"The key leaves out {', '.join(sorted(lacking))} of the key of {layer.changing}: two "
            "of its rows could become one, and nobody could say what is left when one goes. Select "
            "the column and add it to the key, or name the column whose greatest value stays.",
            field="key",
        )


def read_layer(data: Any) -> Layer:
    """Read a definition from JSON values.

    Raises:
        RuleViolation: `layer.definition`.
    """
    try:
        return msgspec.convert(data, Layer)
    except msgspec.ValidationError as error:
        raise _wrong("", f"It is no definition of a layer: {error}.") from error


def to_parsed(layer: Layer) -> dict[str, Any]:
    """Return a definition as JSON values, as it is stored; defaults are left out."""
    plain: dict[str, Any] = msgspec.to_builtins(layer)
    return plain


def _check_columns(layer: Layer) -> None:
    if not layer.key or len(set(layer.key)) != len(layer.key):
        raise _wrong("key", "Name the columns of the key, each once.")
    named = {"key": layer.key, "version": (layer.version,), "partition": (layer.partition,)}
    for field, columns in {**named, "event_time": (layer.event_time,)}.items():
        for column in filter(None, columns):
            if column.startswith(("_hoodie_", "_lw_")) or column == "_weight":
                raise _wrong(field, f"{column} is a column of the programs.")
            check_identifier(column, kind="column")


def _check_table(name: str) -> None:
    db, _, table = name.partition(".")
    check_identifier(db, kind="database")
    check_identifier(table, kind="table")


def _wrong(field: str, text: str) -> RuleViolation:
    return RuleViolation("layer.definition", text, field=field)
