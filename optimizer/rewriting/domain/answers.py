"""Rewrites a query: every aggregating SELECT by itself, each with the cube that fits best."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from optimizer.matching.domain.blocks import (
    Block,
    Candidate,
    TableName,
    candidates_of,
    read_block,
)
from optimizer.matching.domain.matches import match
from optimizer.matching.domain.reading import read_query
from optimizer.matching.domain.rules import Rule, Unfit
from optimizer.matching.domain.views import Schema
from optimizer.rewriting.domain.facts import ICEBERG, CubeFacts, TableFacts
from optimizer.rewriting.domain.session import Session, tables_of
from optimizer.rewriting.domain.texts import Writer, pin
from optimizer.rewriting.domain.usable import check_coverage
from portal.lake.errors import RuleViolation

MOST_FILES = 500
MOST_TABLES = 20


@dataclass(frozen=True)
class CubeAnswer:
    """Whether a cube answers a SELECT, else the first rule that failed."""

    cube: str
    table: str
    used: bool
    rule: str = ""
    reason: str = ""


@dataclass(frozen=True)
class BlockAnswer:
    """What became of one aggregating SELECT, with what it reads before and after."""

    text: str
    tables: tuple[str, ...]
    used: str = ""
    """The table of the cube that answers it; empty: none."""
    reason: str = ""
    """Why no cube was asked; empty where each cube has a reason of its own."""
    cubes: tuple[CubeAnswer, ...] = ()
    figures: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """A query answered from cubes, or as it was given."""

    sql: str
    is_rewritten: bool
    blocks: tuple[BlockAnswer, ...]
    reason: str = ""

    @property
    def refusal(self) -> str:
        """Why it is as it was given, with each materialization or cube's own reason."""
        if self.is_rewritten or self.reason:
            return self.reason
        reasons = [
            reason
            for block in self.blocks
            for reason in (block.reason, *(f"{one.table}: {one.reason}" for one in block.cubes))
            if reason
        ]
        return "; ".join(dict.fromkeys(reasons))

    def to_json(self) -> dict[str, Any]:
        """Return it as the API gives it."""
        return {
            "is_rewritten": self.is_rewritten,
            "rewritten": self.sql,
            "reason": self.reason,
            "blocks": [
                {
                    "text": one.text,
                    "tables": list(one.tables),
                    "used": one.used,
                    "reason": one.reason,
                    "cubes": [vars(cube) for cube in one.cubes],
                    "figures": dict(one.figures),
                }
                for one in self.blocks
            ],
        }


def tables_read(sql: str, session: Session) -> list[str]:
    """Return the tables of the lake that a query reads, `<db>.<table>`.

    Raises:
        RuleViolation: `rewrite.*`, the query cannot be read, or reads too many tables or none.
    """
    try:
        tree = read_query(sql, session.dialect)
        found = tables_of(tree, session.name_of)
    except RecursionError:
        raise RuleViolation("rewrite.deep", "The query is nested too deeply.") from None
    names = sorted({name for one in found if (name := session.name_of(one))})
    if not names or len(names) > MOST_TABLES:
        raise RuleViolation(
            "rewrite.tables",
            f"The query reads {len(names)} tables of a database of this lake; name between 1 and "
            f"{MOST_TABLES}, with their databases.",
        )
    return names


def rewrite(
    sql: str,
    session: Session,
    tables: Mapping[str, TableFacts],
    *,
    readable: Collection[str] | None = None,
    most_files: int = MOST_FILES,
) -> Answer:
    """Return the query answered from cubes where that is sure to be the same.

    `readable` are the tables that the query may name; None: all of `tables`.

    Raises:
        RuleViolation: `rewrite.*`, the query cannot be read.
    """
    try:
        named = tables.keys() if readable is None else tables.keys() & set(readable)
        return _rewrite(sql, session, tables, named, most_files)
    except RecursionError:
        raise RuleViolation("rewrite.deep", "The query is nested too deeply.") from None


def _rewrite(
    sql: str,
    session: Session,
    tables: Mapping[str, TableFacts],
    named: Collection[str],
    most_files: int,
) -> Answer:
    tree = read_query(sql, session.dialect)

    def known(table: exp.Table) -> str | None:
        name = session.name_of(table)
        return name if name in named else None

    candidates = candidates_of(tree, known)
    if not candidates:
        reason = "the query holds no aggregation of a table of this lake"
        return Answer(sql, is_rewritten=False, blocks=(), reason=reason)
    if not _is_written_back(tree, session.dialect):
        reason = "it holds a form of SQL that would not be written back as it is"
        return Answer(sql, is_rewritten=False, blocks=(), reason=reason)
    rewriter = _Rewriter(session, tables, most_files)
    done = [rewriter.answer(one) for one in candidates]
    blocks = tuple(block for block, _ in done)
    if not any(found for _, found in done):
        return Answer(sql, is_rewritten=False, blocks=blocks)
    for candidate, (_, found) in zip(candidates, done, strict=True):
        if found is None:
            continue
        # Common tables of it may have been rewritten by themselves before.
        found.set("with_", candidate.select.args.get("with_"))
        if candidate.select is tree:
            tree = found
        else:
            candidate.select.replace(found)
    if reason := _pin_all(tree, known, tables, rewriter.unversioned):
        return Answer(sql, is_rewritten=False, blocks=blocks, reason=reason)
    return Answer(tree.sql(dialect=session.dialect, pretty=True), is_rewritten=True, blocks=blocks)


def _pin_all(
    tree: exp.Query,
    known: TableName,
    tables: Mapping[str, TableFacts],
    unversioned: Collection[str],
) -> str:
    """Have all places of one statement read one state of a table; returns why that cannot be.

    `unversioned` are the tables of which something else is read that no commit can be named of.
    """
    for place in tables_of(tree, known):
        facts = tables[known(place) or ""]
        if facts.name in unversioned:
            return (
                f"{facts.name} is read at two places, and an aggregate without versions answers one"
            )
        if facts.snapshot_id is None or facts.format != ICEBERG:
            continue
        if not facts.can_be_pinned:
            return f"the columns of {facts.name} changed after its last commit"
        if not place.args.get("version"):
            pin(place, facts.snapshot_id)
    return ""


def _is_written_back(tree: exp.Query, dialect: str) -> bool:
    """Whether the parser reads its own text of the query as it was meant."""
    text = tree.sql(dialect=dialect)
    try:
        return sqlglot.parse_one(text, dialect=dialect).sql(dialect=dialect) == text
    except (SqlglotError, ValueError):
        return False


class _Rewriter:
    """Answers the SELECTs of one query."""

    def __init__(self, session: Session, tables: Mapping[str, TableFacts], most_files: int) -> None:
        self.session, self.tables, self.most_files = session, tables, most_files
        self.schema = Schema(
            {name: one.columns for name, one in tables.items()},
            {name: one.bounds for name, one in tables.items()},
        )
        self.unversioned: set[str] = set()
        self.snapshots = {
            name: one.snapshot_id for name, one in tables.items() if one.snapshot_id is not None
        }

    def answer(self, candidate: Candidate) -> tuple[BlockAnswer, exp.Select | None]:
        """Return what became of one SELECT, and what stands for it where a cube answers it."""
        text = candidate.select.sql(dialect=self.session.dialect)
        text = text if len(text) <= 300 else f"{text[:297]}..."
        names = tuple(sorted({name for name in candidate.tables.values() if name}))
        try:
            block = read_block(candidate, self.schema, self.session.dialect)
        except Unfit as error:
            return BlockAnswer(text, names, reason=error.reason), None
        cubes = [(self.tables[name], cube) for name in names for cube in self.tables[name].cubes]
        if not cubes:
            return BlockAnswer(
                text, names, reason=f"there is no cube or materialization of {' or '.join(names)}"
            ), None
        fitting: list[tuple[CubeFacts, TableFacts, exp.Select]] = []
        reports: dict[str, CubeAnswer] = {}
        for facts, cube in cubes:
            try:
                fitting.append((cube, facts, self._written(block, cube, facts.format)))
                rule, reason = "", ""
            except Unfit as error:
                rule, reason = error.rule, error.reason
            reports[cube.table] = CubeAnswer(
                cube.view.name, cube.table, used=False, rule=rule, reason=reason
            )
        if not fitting:
            return BlockAnswer(text, names, cubes=tuple(reports.values())), None
        best, facts, found = min(fitting, key=lambda one: (_rows(one[0]), one[0].table))
        for cube, _, _ in fitting:
            fewer = " with fewer rows" if _rows(best) < _rows(cube) < math.inf else ""
            reports[cube.table] = replace(
                reports[cube.table], reason=f"{best.table} answers{fewer}"
            )
        if best.snapshot_id is None:
            self.unversioned |= {best.view.table, *(one.table for one in best.view.joins)}
        reports[best.table] = CubeAnswer(best.view.name, best.table, used=True)
        figures = _figures(best, facts)
        return BlockAnswer(text, names, best.table, "", tuple(reports.values()), figures), found

    def _has_one_catalog(self, block: Block) -> bool:
        """Whether the catalog of a SELECT has tables of every format: Spark's own one has."""
        named = {
            one.node.catalog.lower() or self.session.catalog.lower()
            for one in block.sources.values()
        }
        return self.session.dialect == "spark" and named <= {"", "spark_catalog"}

    def _written(self, block: Block, cube: CubeFacts, of: str) -> exp.Select:
        session = self.session
        if cube.problem:
            raise Unfit(Rule.COVERAGE, cube.problem)
        if cube.format != of and not self._has_one_catalog(block):
            raise Unfit(
                Rule.TABLES,
                f"it is a table of {cube.format.title()}, which is read through another catalog "
                f"than {cube.view.table}",
            )
        found = match(block, cube.view, self.schema, session.dialect, session.time_zone)
        check_coverage(cube, self.snapshots, session.dialect, self.most_files)
        return Writer(found, cube, self.snapshots, session.dialect, session.time_zone).select()


def _rows(cube: CubeFacts) -> float:
    """Return how many rows are read where it answers; infinite: nobody counted them."""
    return cube.n_rows + cube.uncovered_rows or math.inf


def _figures(cube: CubeFacts, facts: TableFacts) -> dict[str, int]:
    """Return what is read before and after, as far as the tables' metadata tells."""
    return {
        "files": facts.n_files,
        "bytes": facts.n_bytes,
        "rows": facts.n_rows,
        "fresh_files": cube.n_uncovered,
        "fresh_bytes": cube.uncovered_bytes,
        "fresh_rows": cube.uncovered_rows,
        "cube_bytes": cube.n_bytes,
        "cube_rows": cube.n_rows,
    }
