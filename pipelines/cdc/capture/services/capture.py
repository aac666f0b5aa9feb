"""Runs the capture of one source in this process, until it is asked to stop or cannot go on."""

from collections.abc import Callable

from pipelines.cdc.capture.connectors.mysql_source import MySqlSource
from pipelines.cdc.capture.domain.config import SourceConfig
from pipelines.cdc.capture.engine.capturing import Capture
from pipelines.cdc.capture.engine.progress import Report
from pipelines.cdc.changes.domain.changelog import Changelog
from portal.safety.failpoints import Failpoints


def capture_run(
    config: SourceConfig, log: Changelog, report: Report, should_stop: Callable[[], bool]
) -> None:
    """Capture a source into a changelog; returns when `should_stop` says so.

    Run twice at once, one of the two ends with `cdc.fenced`; run again, it goes on from the
    changelog's last batch. It does not try again itself: an ExternalFailure that is `retryable`
    is for the supervisor of the process.

    Raises:
        PortalError: why it cannot go on; what is in the changelog is whole.
    """
    failpoints = Failpoints.from_environment()
    with MySqlSource(config) as source:
        Capture(config, source, log, report=report, failpoints=failpoints).run(should_stop)
