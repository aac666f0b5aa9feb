"""The texts of keys: those that the lake's values give become those of the changelog."""

import base64
import json

from pipelines.cdc.changes.domain.records import Row
from pipelines.cdc.changes.domain.schemas import TableSchema
from pipelines.cdc.schema.domain.texts import text_of
from pipelines.cdc.schema.domain.types import ColumnType, Kind, parse_type
from portal.lake.errors import RuleViolation


def key_row(text: str, schema: TableSchema) -> Row:
    """Return a key, given as a JSON object of texts, with each text as the changelog has it."""
    said = json.loads(text)
    found: Row = {}
    for name in schema.key:
        column = schema.column(name)
        value = said.get(name)
        if column is None or value is None:
            found[name] = value
        else:
            found[name] = _canonical(value, parse_type(column.type))
    return found


def _canonical(text: str, kind: ColumnType) -> str:
    """A text that is none of the column's type stays: the lake may have what no source had."""
    try:
        return text_of(_native(text, kind), kind) or ""
    except (RuleViolation, ValueError):
        return text


def _native(text: str, kind: ColumnType) -> object:
    match kind.kind:
        case Kind.BINARY | Kind.GEOMETRY:
            return base64.b64decode(text, validate=True)
        case Kind.BIT:
            return int(text)
        case Kind.FLOAT | Kind.DOUBLE:
            return float(text)
        case _:
            return text
