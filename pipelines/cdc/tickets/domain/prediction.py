"""Predicts what a statement that has not run yet will do to a captured table, and to the lake's.

A statement that is no single change of the table is refused, with what it is and what to do.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from pipelines.cdc.changes.domain.schemas import TableSchema
from pipelines.cdc.protecting.domain.columns import check_column, lake_types
from pipelines.cdc.protecting.domain.protections import Protection
from pipelines.cdc.schema.domain.classes import SchemaChange, classify, worst
from pipelines.cdc.schema.domain.ddl import read_statement
from pipelines.cdc.schema.domain.evolution import evolved
from pipelines.cdc.schema.domain.lexical import Unreadable, Words
from pipelines.cdc.schema.domain.statements import Does, Statement
from pipelines.cdc.schema.domain.targets import Needs, TargetChange, target_changes
from pipelines.cdc.schema.domain.type_changes import Class
from portal.lake.errors import RuleViolation

MOST_SIGNS = 20_000
_ALTER = "Give one ALTER TABLE of the table."


@dataclass(frozen=True, slots=True)
class Prediction:
    """A table's schema after a statement, how it differs, and what the lake's table needs."""

    schema: TableSchema
    changes: tuple[SchemaChange, ...]
    needs: tuple[TargetChange, ...]

    @property
    def cls(self) -> Class:
        """Who decides on it; refused also where the lake's table would have to be built again."""
        is_rebuild = any(one.needs is Needs.REBUILD for one in self.needs)
        return Class.REFUSED if is_rebuild else worst(self.changes)

    @property
    def added(self) -> tuple[str, ...]:
        """Columns that come with it."""
        return tuple(one.column for one in self.changes if one.what == "add")


def predict(schema: TableSchema, text: str, *, fixed: Collection[str] = ()) -> Prediction:
    """Return what a statement does; `fixed` names columns by which the lake is partitioned.

    Raises:
        RuleViolation: `ticket.statement`, `ticket.several`, `ticket.rows`, `ticket.table`,
            `ticket.nothing`, or `cdc.ddl` where the schema cannot follow.
    """
    statement = _checked(schema, text)
    after = evolved(schema, statement, version=schema.version)
    changes = classify(schema, after, statement, partitioning=fixed)
    if not changes:
        raise _refused(
            "nothing",
            f"The statement changes no column, key or row of {schema.db}.{schema.table}. Run it "
            "without a ticket.",
        )
    after = replace(after, number=schema.number + 1, ddl=text)
    return Prediction(after, changes, target_changes(changes, fixed=[*schema.key, *fixed]))


def check_choices(prediction: Prediction, choices: Mapping[str, str]) -> dict[str, str]:
    """Return the protection of each column that comes.

    Raises:
        RuleViolation: `ticket.choice` or `cdc.protection`, naming the column.
    """
    types = lake_types(prediction.schema)
    table = f"{prediction.schema.db}.{prediction.schema.table}"
    for column in prediction.added:
        if not choices.get(column):
            raise _refused(
                "choice",
                f"Column {column} is new: say how the lake may have it, as plain or encrypted:PII.",
                field="choices",
            )
        check_column(table, column, Protection.parse(choices[column]), types)
    if strange := sorted(set(choices) - set(prediction.added)):
        raise _refused(
            "choice",
            f"The statement adds no column {strange[0][:100]}: leave out its choice.",
            field="choices",
        )
    return dict(choices)


def _checked(schema: TableSchema, text: str) -> Statement:
    if not text.strip() or len(text) > MOST_SIGNS or "\x00" in text:
        raise _refused("statement", f"Enter one statement of 1-{MOST_SIGNS} signs.")
    if _is_several(text):
        raise _refused(
            "several",
            "The text has more than one statement, and a ticket is for one. Open a ticket for "
            "each, or write the changes as one ALTER TABLE.",
        )
    statement = read_statement(text, schema.db)
    for step in statement.steps:
        if step.does is Does.UNREAD:
            raise _refused("statement", f"A part could not be read: {step.text[-300:]}. {_ALTER}")
        if step.does is Does.ROWS:
            raise _refused(
                "rows", "The statement changes rows, which needs no ticket: they are captured."
            )
    own = (schema.db, schema.table)
    others = {(step.db, step.table) for step in statement.steps if step.table} - {own}
    if others:
        db, table = min(others)
        raise _refused(
            "table",
            f"The statement is about {db}.{table}, the ticket about {own[0]}.{own[1]}. {_ALTER}",
        )
    if any(not step.table for step in statement.steps):
        raise _refused("table", f"The statement is about a database, and not a table. {_ALTER}")
    return statement


def _is_several(text: str) -> bool:
    try:
        words = Words.of(text)
    except Unreadable:
        return False  # what cannot be read is told as such
    return words.is_compound or words.has_semicolon


def _refused(code: str, message: str, *, field: str = "statement") -> RuleViolation:
    return RuleViolation(f"ticket.{code}", message, field=field)
