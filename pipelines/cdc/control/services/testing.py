"""Tests a source before anything of it is stored."""

from dataclasses import dataclass

from pipelines.cdc.capture.connectors.source import probe
from pipelines.cdc.capture.domain.findings import Finding, Level
from pipelines.cdc.control.domain.spec import PipelineSpec
from pipelines.cdc.control.services.pipelines import check_may_name_servers
from pipelines.cdc.control.services.sources import source_config
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
    return TestReport(tuple(probe(source_config(spec))))


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
