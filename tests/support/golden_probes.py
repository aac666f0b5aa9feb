"""Conditions that every reader answers from the golden indexes, with the answers.

A probe asks one blob; a tree asks several. `rows` are the candidate rows where the answer names
fewer than all, else null. NaN stands above all numbers, as in Spark.
"""

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from optimizer.indexes.domain.bloomrf import BloomRF
from optimizer.indexes.domain.envelope import Form
from optimizer.indexes.domain.leaf_probes import Opened
from optimizer.indexes.domain.like_patterns import (
    contains,
    ends_with,
    equal_to,
    has_token,
    like,
    starts_with,
)
from optimizer.indexes.domain.literals import asked_range, order_number
from optimizer.indexes.domain.predicates import (
    And,
    Comparison,
    In,
    IsNan,
    IsNull,
    Literal,
    Matches,
    Not,
    Operator,
    Or,
    Predicate,
    Unknown,
)
from optimizer.indexes.domain.probing import probe
from optimizer.indexes.domain.values import ColumnType, ValueClass
from tests.support.golden_columns import BY_NAME, ROWS, Column
from tests.support.index_values import Plain

_MAKERS = {"contains": contains, "starts_with": starts_with, "ends_with": ends_with}
_TEXTS: tuple[dict[str, Any], ...] = (
    {"op": "contains", "value": "error"},
    {"op": "contains", "value": "ERROR disk"},
    {"op": "contains", "value": " disk "},
    {"op": "contains", "value": "is"},
    {"op": "contains", "value": "世界"},
    {"op": "contains", "value": "nowhere to be seen"},
    {"op": "contains", "value": "k", "lower": True},
    {"op": "contains", "value": "grüße", "lower": True},
    {"op": "starts_with", "value": "2026-11-25 ERROR"},
    {"op": "starts_with", "value": "Zzz "},
    {"op": "ends_with", "value": "35ms"},
    {"op": "ends_with", "value": "full"},
    {"op": "ends_with", "value": " absent"},
    {"op": "has_token", "value": "Error"},
    {"op": "has_token", "value": "sda1"},
    {"op": "has_token", "value": "sda"},
    {"op": "has_token", "value": "w" * 300},
    {"op": "like", "value": "%error%"},
    {"op": "like", "value": "%50\\% done"},
    {"op": "like", "value": "2026-__-25 info %=Ab12-c3 %"},
    {"op": "like", "value": "%error\\_code%"},
    {"op": "like", "value": "%id=_b12%"},
    {"op": "like", "value": "%id=_b13%"},
    {"op": "like", "value": "%"},
    {"op": "=", "value": "Grüße an 世界: ok"},
    {"op": "=", "value": "grüsse"},
    {"op": "=", "value": "300 k", "lower": True},
    {"op": "is_null"},
)


def plain(kind: ColumnType, value: Plain | None) -> object:
    """Return a value as it stands in expected.json."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(value), str(value))
    if isinstance(value, Decimal):
        return str(int(value.scaleb(kind.scale)))
    return str(value) if isinstance(value, UUID) else value.hex()


def _literal(kind: ColumnType, value: Any) -> Literal:
    if kind.value_class == ValueClass.FLOAT:
        return float(value)
    if kind.value_class == ValueClass.DECIMAL:
        return Decimal(value).scaleb(-kind.scale)
    if kind.value_class == ValueClass.UUID:
        return UUID(value)
    made: Literal = bytes.fromhex(value) if kind.value_class == ValueClass.BINARY else value
    return made


def predicate_of(said: Mapping[str, Any], name: str = "") -> Predicate:
    """Return the condition that stands in expected.json."""
    how = said["op"]
    if how in {"and", "or"}:
        parts = tuple(predicate_of(part) for part in said["parts"])
        return And(parts) if how == "and" else Or(parts)
    if how == "not":
        return Not(predicate_of(said["part"]))
    if how == "unknown":
        return Unknown()
    column = BY_NAME[said.get("column", name)]
    return _leaf(column, how, said)


def _leaf(column: Column, how: str, said: Mapping[str, Any]) -> Predicate:
    if how in {"is_null", "is_nan"}:
        return IsNull(column.field_id) if how == "is_null" else IsNan(column.field_id)
    lowered = said.get("lower", False)
    if how in _MAKERS:
        return Matches(column.field_id, _MAKERS[how](said["value"], lowered=lowered))
    if how == "has_token":
        return Matches(column.field_id, has_token(said["value"]))
    if how == "like":
        match = like(said["value"], lowered=lowered)
        return Matches(column.field_id, match) if match else Unknown()
    if how == "in":
        return In(column.field_id, tuple(_literal(column.type, one) for one in said["values"]))
    if lowered:
        return Matches(column.field_id, equal_to(said["value"], lowered=True))
    return Comparison(column.field_id, Operator(how), _literal(column.type, said["value"]))


def _answer(said: Predicate, indexes: list[Opened]) -> dict[str, object]:
    verdict = probe(said, indexes, ROWS)
    rows = None if verdict.rows is None or not verdict.keep else list(verdict.rows)
    return {"answer": "keep" if verdict.keep else "drop", "rows": rows}


def probes_of(column: Column, index: Opened) -> Iterator[dict[str, object]]:
    """Yield what one blob is asked, with the answers."""
    for said in _asked(column, index):
        predicate = predicate_of(said, column.name)
        if not _by_confirmation(predicate, index):
            yield {**said, **_answer(predicate, [index])}


def _by_confirmation(predicate: Predicate, index: Opened) -> bool:
    """Tell whether a range is denied only by looking twice, which a reader may leave out."""
    if not isinstance(index.body, BloomRF) or not isinstance(predicate, Comparison):
        return False
    asked = asked_range(index.type, predicate.operator, predicate.value)
    if asked is None or asked.range is None:
        return False
    first = 0 if asked.range.first is None else order_number(index.type, asked.range.first)
    top = (1 << 64) - 1
    last = top if asked.range.last is None else order_number(index.type, asked.range.last)
    body = index.body
    plainly = body.might_hold_between(first, last, words=-1)
    return plainly != body.might_hold_between(first, last)


def _asked(column: Column, index: Opened) -> Iterator[dict[str, Any]]:
    if index.header.form >= Form.WORD_BLOOM:
        yield from _TEXTS
        return
    there = {json.dumps(plain(column.type, one)) for one in column.values[:12]} - {"null"}
    absent = {json.dumps(plain(column.type, one)) for one in column.absent}
    values = [json.loads(one) for one in (*sorted(there), *sorted(absent))]
    for value in values:
        yield {"op": "=", "value": value}
    yield {"op": "in", "values": values[-2:]}
    yield {"op": "in", "values": []}
    yield {"op": "is_null"}
    if column.type.value_class == ValueClass.FLOAT:
        yield {"op": "is_nan"}
    if index.header.form == Form.BLOOM:
        return
    for how in ("<", "<=", ">", ">="):
        for value in values[:: 3 if len(values) > 5 else 1]:
            if value != "NaN":
                yield {"op": how, "value": value}


_TREES: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (
        ("small_bitmap", "day_bitmap"),
        {
            "op": "and",
            "parts": [
                {"op": "=", "column": "small", "value": 3},
                {"op": ">", "column": "day", "value": 0},
            ],
        },
    ),
    (
        ("small_bitmap", "id_bloom"),
        {
            "op": "or",
            "parts": [
                {"op": "=", "column": "small", "value": 4},
                {"op": "=", "column": "id", "value": 1},
            ],
        },
    ),
    (
        ("small_bitmap",),
        {"op": "not", "part": {"op": "in", "column": "small", "values": [3, 8, 21]}},
    ),
    (("id_bloom",), {"op": "not", "part": {"op": "=", "column": "id", "value": 1}}),
    (("ratio_bitmap",), {"op": "not", "part": {"op": ">", "column": "ratio", "value": "1.0"}}),
    (("ratio_bitmap",), {"op": "not", "part": {"op": "=", "column": "ratio", "value": "NaN"}}),
    (("flag_bitmap",), {"op": "not", "part": {"op": "is_null", "column": "flag"}}),
    (("flag_bitmap",), {"op": "not", "part": {"op": ">", "column": "flag", "value": True}}),
    (("ratio_bitmap",), {"op": "not", "part": {"op": "is_nan", "column": "ratio"}}),
    (
        ("flag_bitmap", "name_bitmap"),
        {
            "op": "not",
            "part": {
                "op": "or",
                "parts": [
                    {"op": "=", "column": "flag", "value": True},
                    {"op": "<=", "column": "name", "value": "Ada"},
                ],
            },
        },
    ),
    (
        ("line_ngram_bitmap", "line_token_bitmap"),
        {
            "op": "and",
            "parts": [
                {"op": "contains", "column": "line", "value": "er"},
                {"op": "like", "column": "line", "value": "% ERROR %"},
            ],
        },
    ),
    (
        ("line_ngram_bitmap",),
        {"op": "not", "part": {"op": "contains", "column": "line", "value": "er"}},
    ),
    (
        ("small_bitmap",),
        {"op": "and", "parts": [{"op": "unknown"}, {"op": "=", "column": "small", "value": 4}]},
    ),
    (
        ("small_bitmap",),
        {"op": "or", "parts": [{"op": "unknown"}, {"op": "=", "column": "small", "value": 4}]},
    ),
    (("small_bitmap",), {"op": "=", "column": "day", "value": 1}),
)


def tree_probes(indexes: Mapping[str, Opened]) -> Iterator[dict[str, object]]:
    """Yield conditions over several columns, with the blobs at hand and the answers."""
    for names, said in _TREES:
        answer = _answer(predicate_of(said), [indexes[name] for name in names])
        yield {"blobs": list(names), "predicate": said, **answer}
