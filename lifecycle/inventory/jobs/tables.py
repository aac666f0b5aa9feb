"""Collects what is known of each database and table before its partitions are inspected.

Tens of thousands of tables fit into the driver, so path rules, formats and enrollment are judged
here with the pure rules. What comes out is joined to every partition by the table's order number.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from pyspark.sql import Row

from lifecycle.core.domain.enrollment import Policy, read_policy
from lifecycle.restore_tests.domain import DIRECTORY, read_scratch
from lifecycle.rules.domain.conformity import (
    DatabaseFacts,
    Finding,
    Findings,
    PathRuleException,
    Reason,
    TableFacts,
    judge,
)
from lifecycle.rules.domain.templates import DEFAULT_TEMPLATE, Template
from portal.catalog.domain.events import uuid_of
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore_db import DDL_TIME
from portal.lake.counts import count_words
from portal.lake.errors import RuleViolation
from portal.lake.formats import VIEWS, Supported, effective_location, judge_format
from portal.lake.names import check_identifier
from portal.lake.paths import LakePath
from portal.lake.readiness import is_ready

POLICY_SOURCE = "the table's own parameters"


@dataclass(frozen=True, slots=True)
class Table:
    """One table with all that was judged of it; `order` is its place by (db, tbl)."""

    order: int
    db: str
    name: str
    tbl_id: int
    owner: str
    tbl_type: str
    format: str
    uuid: str
    raw_location: str
    location: LakePath | None
    create_time: int
    ddl_time: int | None
    ready: bool
    policy: Policy
    unsupported: str
    finding: Finding
    is_partitioned: bool


@dataclass(frozen=True, slots=True)
class Catalog:
    """The databases and tables of a lake, judged."""

    databases: tuple[DatabaseFacts, ...]
    tables: tuple[Table, ...]
    findings: Findings


def unclear_policies(tables: Iterable[Table]) -> str:
    """Name, for the log, the first tables whose LEVEL or TTL cannot be read; empty for none."""
    named = [f"{one.db}.{one.name} ({one.policy.problem})" for one in tables if one.policy.problem]
    if not named:
        return ""
    have = f"{count_words(len(named), 'table')} {'has' if len(named) == 1 else 'have'}"
    return f"{have} an unclear LEVEL or TTL; first: {' '.join(named[:5])}"


def epoch_seconds(text: str | None) -> int | None:
    """Read a metastore time; absent, unreadable, absurd and 0 alike are None."""
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 10:
        return None
    return int(text) or None


def build_catalog(
    databases: Iterable[Row],
    tables: Iterable[Row],
    parameters: Mapping[int, Mapping[str, str]],
    *,
    config: LakeConfig,
    params: Mapping[str, Any],
    today: date,
) -> Catalog:
    """Judge every database and table; nothing that cannot be read makes this fail."""
    facts = tuple(
        DatabaseFacts(row["db"], row["owner"] or "", read_path(row["location"], config))
        for row in databases
    )
    scratch = scratch_databases(facts, params, config)
    facts = tuple(fact for fact in facts if fact.name not in scratch)
    tables = (row for row in tables if row["db"] not in scratch)
    rows = sorted(tables, key=lambda row: (row["db"], row["tbl"]))
    located = [table_facts(row, parameters.get(row["tbl_id"], {}), config) for row in rows]
    findings = judge(
        facts,
        located,
        templates=path_templates(params, config),
        waivers=path_exceptions(params),
        today=today,
    )
    real = [
        (row, fact) for row, fact in zip(rows, located, strict=True) if row["tbl_type"] not in VIEWS
    ]
    judged = tuple(
        _table(order, row, fact, parameters.get(row["tbl_id"], {}), findings)
        for order, (row, fact) in enumerate(real)
    )
    return Catalog(facts, judged, findings)


def scratch_databases(
    databases: Iterable[DatabaseFacts], params: Mapping[str, Any], config: LakeConfig
) -> frozenset[str]:
    """Name the databases of restore tests: by name, and where only the portal may write."""
    restore_tests = [config.path(root).child(DIRECTORY) for root in params.get("backup_roots", ())]
    return frozenset(
        one.name
        for one in databases
        if read_scratch(one.name)
        and one.location is not None
        and any(one.location.is_at_or_under(place) for place in restore_tests)
    )


def read_path(text: str | None, config: LakeConfig) -> LakePath | None:
    """Read a location, or give None for what is no path."""
    try:
        return config.path(text) if text else None
    except RuleViolation:
        return None


def table_facts(row: Row, parameters: Mapping[str, str], config: LakeConfig) -> TableFacts:
    """Return what the path rules need to know of a table."""
    return TableFacts(
        db=row["db"],
        table=row["tbl"],
        owner=row["owner"] or "",
        location=read_path(_raw_location(row, parameters), config),
        is_view=row["tbl_type"] in VIEWS,
    )


def _raw_location(row: Row, parameters: Mapping[str, str]) -> str | None:
    serde = {"path": row["path"]} if row["path"] else {}
    return effective_location(row["location"], serde, parameters)


def _table(
    order: int, row: Row, facts: TableFacts, parameters: Mapping[str, str], findings: Findings
) -> Table:
    judged = judge_format(
        row["tbl_type"] or "", parameters, serde=row["serde"], input_format=row["input_format"]
    )
    unsupported = "" if isinstance(judged, Supported) else judged.reason
    return Table(
        order=order,
        db=row["db"],
        name=row["tbl"],
        tbl_id=row["tbl_id"],
        owner=row["owner"] or "",
        tbl_type=row["tbl_type"] or "",
        format=judged.format,
        uuid=uuid_of(judged.format, parameters),
        raw_location=_raw_location(row, parameters) or "",
        location=facts.location,
        create_time=row["create_time"] or 0,
        ddl_time=epoch_seconds(parameters.get(DDL_TIME)),
        ready=is_ready(parameters),
        policy=read_policy(parameters),
        unsupported=unsupported or _name_problem(row["db"], row["tbl"]),
        finding=findings.tables[(row["db"], row["tbl"])],
        is_partitioned=bool(row["n_keys"]),
    )


def _name_problem(db: str, table: str) -> str:
    try:
        check_identifier(db, kind="database")
        check_identifier(table, kind="table")
    except RuleViolation as error:
        return error.message
    return ""


def path_templates(params: Mapping[str, Any], config: LakeConfig) -> list[Template]:
    """Return each database's own template, then the lake's for all others."""

    def parse(text: str, pattern: str) -> Template:
        return Template.parse(
            text, pattern=pattern, default_fs=config.default_fs, aliases=config.aliases
        )

    own = [
        parse(settings["template"], db)
        for db, settings in sorted(params.get("databases", {}).items())
        if settings.get("template")
    ]
    return [*own, parse(params.get("template") or DEFAULT_TEMPLATE, "*")]


def path_exceptions(params: Mapping[str, Any]) -> list[PathRuleException]:
    """Return the exceptions of path rules that a request names."""
    return [
        PathRuleException(
            item["db"],
            item.get("table") or "",
            Reason(item["reason"]),
            date.fromisoformat(item["until"]),
        )
        for item in params.get("waivers", ())
    ]
