"""Prepares what a run is submitted with: settings and environment."""

from dataclasses import dataclass

from django.conf import settings

from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure
from portal.runs.execution.processes import TAG_VARIABLE
from portal.runs.execution.submitted import lake_of
from portal.runs.kinds.registry import RunKind, all_kinds
from portal.runs.models import Run
from portal.settings.logs import FORMAT_VARIABLE
from portal.spark import launch
from portal.spark.masters.settings import ANY_KIND, for_kind, is_deployed
from portal.spark.spool import Spool


@dataclass(frozen=True, slots=True)
class Deployment:
    """What `launch.submit` gets for a run."""

    config: LakeConfig
    environment: dict[str, str]


def deployment_of(run: Run, kind: RunKind, spool: Spool) -> Deployment:
    """Return the settings and environment of a run's application, whose spool has been made.

    The passwords of a driver on a cluster are written into the spool: command lines and
    environments of applications are read by whoever sees them there.

    Raises:
        ExternalFailure: `config.spark_queues`, the lake names a kind of run that there is not.
    """
    config = lake_of(run)
    _check_queues(config)
    config = launch.waiting(config) if kind.stays else config
    config = config if kind.writes_tables else launch.private(config)
    config = for_kind(config, run.kind, tag=run.tag, uploads=str(spool.uploads))
    environment = {
        **kind.environment(run),
        TAG_VARIABLE: run.tag,
        FORMAT_VARIABLE: settings.LAKEWARDEN_LOG_FORMAT,
    }
    if is_deployed(config):
        spool.write_environment(environment)
        # What drivers import comes with them; this host's folders mean nothing there.
        environment = {TAG_VARIABLE: run.tag, "PYTHONPATH": ""}
    return Deployment(config, environment)


def _check_queues(config: LakeConfig) -> None:
    known = {kind.name for kind in all_kinds()} | {ANY_KIND}
    if unknown := sorted(set(config.spark_queues) - known):
        raise ExternalFailure(
            "config.spark_queues",
            f"spark_queues of lakes.json names {', '.join(unknown)}, and there is no such kind of "
            f"run. Name a kind of run, or '{ANY_KIND}' for all others.",
            service="config",
            retryable=False,
        )
