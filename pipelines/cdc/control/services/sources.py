"""Says how a pipeline's source and its changelog are reached."""

from pipelines.cdc.capture.domain.config import SourceConfig
from pipelines.cdc.capture.domain.repairs import Repair
from pipelines.cdc.changes.connectors.directory_log import DirectoryLog
from pipelines.cdc.changes.connectors.kafka_log import KafkaLog
from pipelines.cdc.changes.domain.changelog import Changelog
from pipelines.cdc.changes.services.passwords import kafka_password, password_of
from pipelines.cdc.control.domain.spec import PipelineSpec
from pipelines.models import Pipeline, TableRepair
from portal.access.lakes import get_lake
from portal.connectors.filesystem import open_file_system
from portal.lake.errors import RuleViolation
from portal.lake.paths import LakePath


def source_config(
    spec: PipelineSpec,
    *,
    epoch: int = 0,
    reloads: tuple[tuple[str, int], ...] = (),
    repairs: tuple[Repair, ...] = (),
) -> SourceConfig:
    """Return what a capture needs to know.

    Raises:
        RuleViolation: `pipeline.password`, there is no password.
        ExternalFailure: `config.secret_file`, its file cannot be read.
    """
    password = password_of(spec.password_name)
    if password is None:
        raise RuleViolation(
            "pipeline.password",
            f"The environment variable {spec.password_variable} is not set where the portal runs, "
            f"and the folder that LAKEWARDEN_CAPTURE_PASSWORD_DIR names has no file "
            f"{spec.password_name}. Write the password into such a file on the hosts of the site "
            "and of manage.py cdc_capture.",
            field="password_name",
        )
    return SourceConfig(
        name=spec.name,
        host=spec.host,
        port=spec.port,
        user=spec.user,
        password=password,
        server_id=spec.server_id,
        tables=spec.patterns,
        ssl_ca=spec.ssl_ca,
        epoch=epoch,
        reloads=reloads,
        repairs=repairs,
    )


def config_of(pipeline: Pipeline) -> SourceConfig:
    """Return the same of a pipeline that is there, with loads and repairs that people asked for."""
    asked = pipeline.tables.filter(n_reloads__gt=0).values_list("db", "table", "n_reloads")
    reloads = tuple((f"{db}.{table}", n) for db, table, n in asked)
    repairs = _repairs_of(pipeline)
    return source_config(pipeline.spec, epoch=pipeline.epoch, reloads=reloads, repairs=repairs)


def _repairs_of(pipeline: Pipeline) -> tuple[Repair, ...]:
    asked = TableRepair.objects.filter(captured__pipeline=pipeline, done_at=None)
    return tuple(
        Repair(
            row.pk,
            row.captured.db,
            row.captured.table,
            tuple(row.comparison.keys.order_by("pk").values_list("key", flat=True)),
        )
        for row in asked.select_related("captured", "comparison").order_by("pk")
    )


def folder_of(pipeline: Pipeline) -> LakePath:
    """Return the folder of a pipeline: its changelog, and what the apply keeps.

    One that is created later under the name of a deleted one has another: its source may be
    another server, whose positions mean nothing in the log that was left.
    """
    config = get_lake(pipeline.lake)
    return config.path(config.spool).child("pipelines", f"{pipeline.name}-{pipeline.pk}")


def changelog_root(pipeline: Pipeline) -> LakePath:
    """Return where a changelog of files lies."""
    return folder_of(pipeline).child("changelog")


def open_changelog(pipeline: Pipeline) -> Changelog:
    """Return a pipeline's changelog.

    Raises:
        ExternalFailure: `cdc.kafka`, its brokers do not answer.
        RuleViolation: `pipeline.password`, that of Kafka is not there.
    """
    place = pipeline.spec.kafka
    if place and not pipeline.is_of_topics:
        return KafkaLog(place, password=kafka_password(place))
    root = changelog_root(pipeline)
    config = get_lake(pipeline.lake)
    return DirectoryLog(open_file_system(root, config=config, acls=False), root)
