"""Writes what queries group a date or time by (its year, month or day) in one way for each meaning.

The forms are those by which queries are matched with cubes. Nothing but a column is in them, and
the text is the Spark SQL that a definition of a cube takes: `date_trunc('month', sold_at)`.
"""

import re
from collections.abc import Mapping

from sqlglot import exp

from optimizer.matching.domain.dates import PARTS, dated, shared_form

_TIMES = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
_DATES = ("week", "month", "quarter", "year")
WRITTEN: Mapping[str, str] = {
    "DATE": "cast({} as date)",
    **{part: f"{part.lower()}({{}})" for part in sorted(PARTS)},
    **{f"TRUNC:{unit.upper()}": f"date_trunc('{unit}', {{}})" for unit in _TIMES},
    **{f"DATE_TRUNC:{unit.upper()}": f"trunc({{}}, '{unit}')" for unit in _DATES},
}
_READ = {
    form: re.compile(re.escape(text).replace(re.escape("{}"), r"([\w.]+)"), re.ASCII)
    for form, text in WRITTEN.items()
}
_KINDS: Mapping[str, str] = {
    "date": "date",
    "timestamp": "timestamp_ntz",
    "timestamptz": "timestamp",
}
"""Spark's words for Iceberg's types."""
PLAIN = ""
"""The form of a column as it is."""


def term_text(form: str, column: str) -> str:
    """Return a form of a column as SQL; `read_term` gives both back."""
    return column if form == PLAIN else WRITTEN[form].format(column)


def read_term(text: str) -> tuple[str, str]:
    """Return form and column; of any text that is no form of a column the text is the column."""
    for form, pattern in _READ.items():
        if (found := pattern.fullmatch(text)) is not None:
            return form, found[1]
    return PLAIN, text


def form_of(node: exp.Expr, iceberg_type: str, dialect: str) -> str:
    """Return the form of a column of that type that an expression is; empty where it is none."""
    kind = _KINDS.get(iceberg_type)
    found = None if kind is None else shared_form(node, kind, dialect)
    return found[0] if found is not None and found[0] in WRITTEN else PLAIN


def defined_form(node: exp.Expr) -> str:
    """Return the form that an expression of a definition is; empty where it is none."""
    found = dated(node)
    return found[0] if found is not None and found[0] in WRITTEN else PLAIN


def name_of(form: str, column: str) -> str:
    """Return a name for a form of a column: `sold_at_month`."""
    return column if form == PLAIN else f"{column}_{form.rpartition(':')[2].lower()}"
