"""Tests a source before anything of it is stored."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipelines.cdc.capture.connectors.source import probe
from pipelines.cdc.capture.domain.findings import Finding, Level, TableFacts
from pipelines.cdc.control.domain.spec import PipelineSpec
from pipelines.cdc.control.services.pipelines import check_may_name_servers
from pipelines.cdc.control.services.sources import source_config
from pipelines.cdc.protecting.domain.columns import check_table
from pipelines.cdc.protecting.domain.protections import Protection
from pipelines.cdc.protecting.engine.ciphers import Protector
from portal.access.actors import Actor
from portal.access.lakes import get_lake
from portal.lake.errors import RuleViolation


@dataclass(frozen=True, slots=True)
class TestReport:
    """What a test found."""

    findings: tuple[Finding, ...]

    @property
    def is_good(self) -> bool:
        """Whether the source can be captured; what is only worse does not hinder."""
        return all(one.level is not Level.ERROR for one in self.findings)


def source_test(spec: PipelineSpec, *, by: Actor) -> TestReport:
    """Try everything that a capture needs; it only reads.

    Raises:
        NotAllowed: for anyone but an admin with a fresh log-in, because the portal logs in there.
        NotVisible: the lake is none.
        RuleViolation: the password is not there.
    """
    check_may_name_servers(by)
    get_lake(spec.lake)
    return TestReport(
        tuple(probe(source_config(spec), also=lambda tables: _settings(spec, tables)))
    )


def checked_source(spec: PipelineSpec, *, by: Actor) -> None:
    """Refuse a source that cannot be captured.

    Raises:
        RuleViolation: `pipeline.test`, with all that is missing; else as `source_test`.
    """
    report = source_test(spec, by=by)
    if not report.is_good:
        bad = [one for one in report.findings if one.level is Level.ERROR]
        words = " ".join(f"{one.message} {one.remedy}".strip() for one in bad)
        raise RuleViolation("pipeline.test", f"The source cannot be captured. {words}")


def _settings(spec: PipelineSpec, tables: Sequence[TableFacts]) -> Iterator[Finding]:
    """Judge protections and partition columns by the tables that are there, and the keys."""
    schemas = {one.name: one.schema for one in tables if one.schema is not None}
    for name in sorted({*spec.protections, *spec.partitions}):
        said = {column: Protection.parse(text) for column, text in _of(spec, name).items()}
        try:
            if name not in schemas:
                raise RuleViolation("cdc.protection", f"No table {name} is captured.")
            check_table(schemas[name], said, spec.partitions.get(name, ""))
            for column, protection in said.items():
                Protector.of(protection, name, column, os.environ)
        except RuleViolation as error:
            yield Finding("protection", Level.ERROR, error.message, "Correct it.")
        else:
            n = len(said)
            words = f"{name}: {n} column{'' if n == 1 else 's'} can be protected as asked."
            yield Finding("protection", Level.OK, words)


def _of(spec: PipelineSpec, name: str) -> dict[str, str]:
    return dict(spec.protections.get(name, {}))
