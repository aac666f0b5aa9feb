"""Creates, pauses, resumes and deletes pipelines, and pauses single tables.

Admins and operators keep pipelines running; only an admin who proved just now who he is may name a
server, because the portal logs in to it. Nothing here touches the lake or the source: the programs
of a pipeline read what is desired of them.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from django.db import IntegrityError, transaction

from pipelines.cdc.control.domain.spec import PipelineSpec, SourceKind
from pipelines.cdc.control.domain.states import Desired
from pipelines.cdc.protecting.services.lake_keys import check_keys
from pipelines.models import CapturedTable, Pipeline
from portal.access.actors import Actor
from portal.access.lakes import get_lake
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from portal.lake.reasons import given_reason

_FIXED = ("name", "lake", "kind", "columns", "target_db", "table_type", "changelog")


def check_may_name_servers(by: Actor) -> None:
    """Let nobody but admins of all lakes with a fresh log-in.

    Passwords of sources and brokers belong to the portal, not to a lake: whoever names a server
    could have any of them sent there.

    Raises:
        NotAllowed: `pipeline.role`.
    """
    if not (by.is_admin and by.is_fresh):
        raise NotAllowed(
            "pipeline.role",
            "Only an admin names a server to log in to (an admin of all lakes, where there are "
            "several), within 15 minutes of a log-in. Log in again at /login/again/ and repeat it.",
        )


def pipeline_create(spec: PipelineSpec, *, by: Actor, now: datetime) -> Pipeline:
    """Create a pipeline, which begins at once; the same one twice changes nothing.

    Raises:
        NotAllowed: for anyone but an admin with a fresh log-in.
        NotVisible: the lake is none.
        RuleViolation: the name is taken, or another pipeline has the server id on that server, or
            a key is not the lake's.
    """
    check_may_name_servers(by)
    get_lake(spec.lake)
    check_keys(spec.lake, spec.all_protections())
    known = Pipeline.objects.filter(name=spec.name).first()
    if known is not None:
        return _same(known, spec)
    _check_server_id(spec)
    try:
        with transaction.atomic():
            made = Pipeline.objects.create(
                name=spec.name,
                lake=spec.lake,
                created_by=by.name,
                created_at=now,
                desired=Desired.RUNNING.value,
                desired_by=by.name,
                desired_at=now,
                **_columns(spec),
            )
            servers = spec.kafka.servers if spec.kafka else ""
            data = {
                "server": f"{spec.host}:{spec.port}" if spec.host else servers,
                "tables": list(spec.patterns),
            }
            _record("created", made, by=by, data=data, now=now)
    except IntegrityError:
        return _same(Pipeline.objects.get(name=spec.name), spec)
    return made


def pipeline_edit(
    pipeline: Pipeline, spec: PipelineSpec, *, version: int, by: Actor, now: datetime
) -> None:
    """Change the server, the log-in or the tables of a pipeline; its programs begin again with it.

    Raises:
        NotAllowed: for anyone but an admin with a fresh log-in.
        RuleViolation: name, lake, target or changelog differ, which cannot be changed.
        StaleState: somebody changed it since `version` was read.
    """
    check_may_name_servers(by)
    check_keys(spec.lake, spec.all_protections())
    for field in _FIXED:
        if getattr(spec, field) != getattr(pipeline.spec, field):
            raise RuleViolation(
                "pipeline.fixed",
                f"The {field.replace('_', ' ')} of a pipeline cannot be changed: create another.",
                field=field,
            )
    if spec.kafka and spec.kafka.topic != pipeline.kafka.get("topic", ""):
        raise RuleViolation(
            "pipeline.fixed",
            "The topic of a changelog cannot be changed: create another pipeline.",
            field="kafka_topic",
        )
    _check_server_id(spec)
    with transaction.atomic():
        row = locked(pipeline)
        if row.version != version:
            raise StaleState(
                "pipeline.changed", "Somebody changed the pipeline since. Reload its page."
            )
        _check_settings(row, spec)
        before, after = _columns(row.spec), _columns(spec)
        changed = {field: after[field] for field in after if after[field] != before[field]}
        if not changed:
            return
        Pipeline.objects.filter(pk=row.pk).update(version=version + 1, problem="", **after)
        _record("edited", row, by=by, data=changed, now=now)


def pipeline_want(
    pipeline: Pipeline, desired: Desired, *, reason: str, by: Actor, now: datetime
) -> None:
    """Pause or resume a pipeline; the same twice changes nothing.

    Paused, nothing is captured or applied. The source keeps its log for some days only: a pause
    longer than that needs a new full load.

    Raises:
        NotAllowed: for others than admins and operators.
        RuleViolation: without a reason.
    """
    check_staff(by)
    said = check_reason_given(reason)
    with transaction.atomic():
        row = locked(pipeline)
        if row.desired == desired.value:
            return
        row.desired, row.desired_by, row.desired_at = desired.value, by.name, now
        row.desired_reason, row.problem, row.problem_code = said, "", ""
        row.save(
            update_fields=[
                *("desired", "desired_by", "desired_at", "desired_reason"),
                *("problem", "problem_code"),
            ]
        )
        action = "paused" if desired is Desired.PAUSED else "resumed"
        _record(action, row, by=by, data={"reason": said}, now=now)


def table_want(
    table: CapturedTable, desired: Desired, *, reason: str, by: Actor, now: datetime
) -> None:
    """Pause or resume the apply of one table; its changes are still captured, so nothing is lost.

    Resumed, a table whose changes could not be applied is tried again.

    Raises:
        NotAllowed: for others than admins and operators.
        RuleViolation: without a reason.
    """
    check_staff(by)
    said = check_reason_given(reason)
    with transaction.atomic():
        row = locked_table(table)
        if row.desired == desired.value and not row.problem:
            return
        row.desired, row.problem, row.problem_code = desired.value, "", ""
        row.save(update_fields=["desired", "problem", "problem_code"])
        action = "table_paused" if desired is Desired.PAUSED else "table_resumed"
        _record(action, row.pipeline, by=by, data={"table": str(row), "reason": said}, now=now)


def pipeline_reload(pipeline: Pipeline, *, reason: str, by: Actor, now: datetime) -> None:
    """Have every table loaded again, from where the source's log ends now.

    It is what helps after the source removed its log before it was read, began it again, or gave
    its place to another server. Rows that were deleted meanwhile stay in the lake.

    Raises:
        NotAllowed: for others than admins and operators.
        RuleViolation: without a reason.
    """
    check_staff(by)
    said = check_reason_given(reason)
    with transaction.atomic():
        row = locked(pipeline)
        row.epoch, row.problem, row.problem_code = row.epoch + 1, "", ""
        row.first_batch = row.batch + 1
        row.save(update_fields=["epoch", "problem", "problem_code", "first_batch"])
        data = {"reason": said, "epoch": row.epoch}
        _record("reloaded", row, by=by, data=data, now=now)


def table_reload(table: CapturedTable, *, reason: str, by: Actor, now: datetime) -> None:
    """Have one table loaded again beside its changes; its newer rows stay as they are.

    Raises:
        NotAllowed: for others than admins and operators.
        RuleViolation: without a reason.
    """
    check_staff(by)
    said = check_reason_given(reason)
    if table.pipeline.is_of_topics:
        raise RuleViolation("pipeline.topics", "A topic has no full load: its records are there.")
    with transaction.atomic():
        row = locked_table(table)
        load_again(row)
        data = {"table": str(row), "reason": said}
        _record("table_reloaded", row.pipeline, by=by, data=data, now=now)


def load_again(locked_row: CapturedTable) -> None:
    """Have a locked table loaded again; whoever asks says so in the audit log."""
    row = locked_row
    row.n_reloads, row.loaded_at, row.n_loaded = row.n_reloads + 1, None, 0
    row.save(update_fields=["n_reloads", "loaded_at", "n_loaded"])


def pipeline_delete(
    pipeline: Pipeline, *, typed: str, reason: str, by: Actor, now: datetime
) -> None:
    """Delete a paused pipeline from the portal; the lake's tables and the changelog stay.

    Raises:
        NotAllowed: for anyone but an admin.
        RuleViolation: it runs, or there is no reason, or its name was not typed.
    """
    check_staff(by)
    if not by.is_admin:
        raise NotAllowed("pipeline.role", "Only an admin deletes a pipeline; you may pause it.")
    said = check_reason_given(reason)
    if typed != pipeline.name:
        raise RuleViolation("pipeline.typed", f"Type {pipeline.name} to delete it.", field="typed")
    with transaction.atomic():
        row = locked(pipeline)
        if row.desired != Desired.PAUSED.value:
            raise RuleViolation("pipeline.runs", "Pause the pipeline before you delete it.")
        _record("deleted", row, by=by, data={"reason": said}, now=now)
        row.delete()


def fixed_of(pipeline: Pipeline) -> dict[str, Any]:
    """Return what cannot be changed of a pipeline, as fields of `spec_of`."""
    return {field: getattr(pipeline, field) for field in (*_FIXED, "kafka")}


def locked(pipeline: Pipeline) -> Pipeline:
    """Lock a pipeline's row; NotVisible if it was deleted meanwhile."""
    row = Pipeline.objects.select_for_update().filter(pk=pipeline.pk).first()
    if row is None:
        raise NotVisible("pipeline.unknown", "There is no such pipeline any more.")
    return row


def locked_table(table: CapturedTable) -> CapturedTable:
    """Lock a table's row behind its pipeline's; NotVisible if that was deleted meanwhile."""
    pipeline = locked(table.pipeline)
    row = pipeline.tables.select_for_update().get(pk=table.pk)
    row.pipeline = pipeline
    return row


def _columns(spec: PipelineSpec) -> dict[str, object]:
    return {
        "host": spec.host,
        "port": spec.port,
        "user": spec.user,
        "password_name": spec.password_name,
        "ssl_ca": spec.ssl_ca,
        "server_id": spec.server_id,
        "patterns": list(spec.patterns),
        "target_db": spec.target_db,
        "table_type": spec.table_type.value,
        "changelog": spec.changelog.value,
        "protections": {name: dict(columns) for name, columns in spec.protections.items()},
        "partitions": dict(spec.partitions),
        "kind": spec.kind.value,
        "columns": msgspec.to_builtins(spec.columns),
        "kafka": msgspec.to_builtins(spec.kafka) if spec.kafka else {},
    }


def _check_settings(pipeline: Pipeline, spec: PipelineSpec) -> None:
    """Protections of tables that are captured are changed on their pages, with a new load."""
    for table in pipeline.tables.all():
        name, old = str(table), pipeline.spec
        is_same = dict(spec.protections.get(name, {})) == dict(old.protections.get(name, {}))
        if not is_same or spec.partitions.get(name) != old.partitions.get(name):
            raise RuleViolation(
                "pipeline.table_settings",
                f"{name} is captured already: change its protections and its partition column on "
                "its own page, which loads it again.",
                field="protections",
            )


def _same(known: Pipeline, spec: PipelineSpec) -> Pipeline:
    if known.spec == spec:
        return known
    raise RuleViolation(
        "pipeline.taken",
        f"There is a pipeline {known.name} already. Choose another name.",
        field="name",
    )


def _check_server_id(spec: PipelineSpec) -> None:
    """Two readers with one server id throw each other off the server, again and again."""
    if spec.kind is SourceKind.TOPICS:
        return
    others = Pipeline.objects.filter(host=spec.host, port=spec.port, server_id=spec.server_id)
    other = others.exclude(name=spec.name).first()
    if other is not None:
        raise RuleViolation(
            "pipeline.server_id",
            f"Pipeline {other.name} has server id {spec.server_id} on that server. Choose another.",
            field="server_id",
        )


def check_staff(by: Actor) -> None:
    """Let nobody but admins and operators; NotAllowed `pipeline.role`."""
    if not by.is_staff:
        raise NotAllowed("pipeline.role", "Admins and operators keep pipelines.")


def check_reason_given(reason: str) -> str:
    """Return a reason without spaces around it; RuleViolation `pipeline.reason` for none."""
    return given_reason(reason, "pipeline.reason", field="reason")


def table_record(
    action: str, table: CapturedTable, *, by: str, data: Mapping[str, object], now: datetime
) -> None:
    """Write into the audit log what was done with a captured table."""
    audit_record(
        f"pipelines.{action}",
        actor=by,
        lake=table.lake,
        object_type="captured_table",
        object_id=f"{table.pipeline.name}/{table}",
        data=data,
        now=now,
    )


def _record(
    action: str, pipeline: Pipeline, *, by: Actor, data: Mapping[str, object], now: datetime
) -> None:
    audit_record(
        f"pipelines.{action}",
        actor=by.name,
        lake=pipeline.lake,
        object_type="pipeline",
        object_id=pipeline.name,
        data=data,
        now=now,
    )
