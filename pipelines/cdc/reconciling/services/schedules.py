"""Says when a pipeline's tables are compared, and asks for comparisons that are due."""

from datetime import datetime

from django.db import transaction

from pipelines.cdc.control.domain.spec import SourceKind
from pipelines.cdc.control.domain.states import Desired
from pipelines.cdc.control.services.pipelines import check_staff, locked
from pipelines.cdc.reconciling.models import DEFAULT_HOUR, DEFAULT_RATE
from pipelines.models import CapturedTable, ComparisonSchedule, Pipeline
from portal.access.actors import Actor
from portal.access.lakes import get_lake
from portal.audit.services import audit_record
from portal.lake.errors import RuleViolation, StaleState
from portal.runs.models import Run
from portal.runs.requests.services import run_request

KIND = "pipelines.cdc_compare"
SCHEDULE = "schedule"
LEAST_RATE, MOST_RATE = 100, 1_000_000
NO_SOURCE = (
    "Topics of Kafka have no rows to compare with: each record of a topic is a row of its table, "
    "once, and none is ever changed."
)


def check_has_source(pipeline: Pipeline) -> None:
    """Refuse a pipeline of topics; RuleViolation `comparison.topics`."""
    if pipeline.is_of_topics:
        raise RuleViolation("comparison.topics", NO_SOURCE)


def schedule_of(pipeline: Pipeline) -> ComparisonSchedule:
    """Return a pipeline's schedule; one that nobody set compares at night."""
    found = ComparisonSchedule.objects.filter(pipeline=pipeline).first()
    return found or ComparisonSchedule(
        pipeline=pipeline, hour=DEFAULT_HOUR, rows_per_second=DEFAULT_RATE
    )


def schedule_set(
    pipeline: Pipeline, *, hour: int | None, rows_per_second: int, by: Actor, now: datetime
) -> ComparisonSchedule:
    """Set when tables are compared and how fast the source is read; the same twice is no change.

    Raises:
        NotAllowed: for others than admins and operators.
        RuleViolation: `comparison.schedule`, `comparison.topics`.
    """
    check_staff(by)
    check_has_source(pipeline)
    if hour is not None and not 0 <= hour <= 23:
        raise RuleViolation("comparison.schedule", "The hour is 0 to 23.", field="hour")
    if not LEAST_RATE <= rows_per_second <= MOST_RATE:
        raise RuleViolation(
            "comparison.schedule",
            f"Read {LEAST_RATE:,} to {MOST_RATE:,} rows a second.",
            field="rows_per_second",
        )
    said = {"hour": hour, "rows_per_second": rows_per_second}
    with transaction.atomic():
        row = locked(pipeline)
        known = ComparisonSchedule.objects.filter(pipeline=row).first()
        if known and (known.hour, known.rows_per_second) == (hour, rows_per_second):
            return known
        made, _ = ComparisonSchedule.objects.update_or_create(
            pipeline=row, defaults={**said, "changed_by": by.name, "changed_at": now}
        )
        audit_record(
            "pipelines.comparison_scheduled",
            actor=by.name,
            lake=row.lake,
            object_type="pipeline",
            object_id=row.name,
            data=said,
            now=now,
        )
    return made


def comparison_request(
    pipeline: Pipeline, table: CapturedTable | None, *, by: Actor, now: datetime
) -> Run:
    """Ask for a comparison of a pipeline's tables, or of one.

    Raises:
        NotAllowed: for others than admins and operators.
        RuleViolation: `comparison.topics`.
        StaleState: `comparison.running`, one of the pipeline has not ended.
    """
    check_staff(by)
    check_has_source(pipeline)
    with transaction.atomic():
        row = locked(pipeline)
        if open_run_of(row) is not None:
            raise StaleState(
                "comparison.running",
                "A comparison of this pipeline is running already; its result stands here when it "
                "is done.",
            )
        return _request(row, [table.pk] if table else [], by=by.name, now=now)


def open_run_of(pipeline: Pipeline) -> Run | None:
    """Return the comparison of a pipeline that has not ended."""
    rows = Run.objects.filter(kind=KIND, subject_type="pipeline", subject_id=pipeline.name)
    return rows.filter(finished_at=None).first()


def comparisons_due(lake: str, *, now: datetime) -> None:
    """Ask for the comparison of a day of every pipeline whose hour has come; again: nothing."""
    local = now.astimezone(get_lake(lake).zone)
    wanted = {"desired": Desired.RUNNING.value, "kind": SourceKind.MYSQL.value}
    running = Pipeline.objects.filter(lake=lake, **wanted)
    for row in running.select_related("comparison_schedule").order_by("pk"):
        hour = getattr(row, "comparison_schedule", None)
        due = hour.hour if hour else DEFAULT_HOUR
        # What was created after the hour of a day is compared on the next.
        begins = local.replace(hour=due or 0, minute=0, second=0, microsecond=0)
        if due is None or local < begins or row.created_at >= begins:
            continue
        _request(row, [], by=SCHEDULE, now=now, key=f"{KIND}:{row.pk}:{local.date()}")


def _request(
    row: Pipeline, tables: list[int], *, by: str, now: datetime, key: str | None = None
) -> Run:
    return run_request(
        KIND,
        lake=row.lake,
        params={"pipeline": row.pk, "tables": tables},
        requested_by=by,
        unique_key=key,
        subject=("pipeline", row.name),
        now=now,
    )
