"""Gauges of change capture for a monitoring server, and what waits for admins and operators."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from django.utils import timezone

from pipelines.cdc.control.domain.states import PipelineState
from pipelines.cdc.control.selectors.pipelines import PipelineRow, pipeline_rows
from pipelines.models import Pipeline
from portal.access.gauges import Gauge, Sample, register_gauge

TROUBLED = frozenset({PipelineState.FAILED, PipelineState.SILENT})


def register_gauges() -> None:
    """Add the numbers of pipelines to /metrics."""
    register_gauge(
        Gauge("cdc_pipelines", "Pipelines by lake and state.", by_state, labels=("lake", "state")),
    )
    register_gauge(
        Gauge(
            "cdc_data_age_seconds",
            "Age of the oldest newest change of the tables of a pipeline that runs.",
            data_ages,
            labels=("pipeline",),
        )
    )
    register_gauge(
        Gauge(
            "cdc_quarantined_records",
            "Records whose values did not fit.",
            quarantined,
            labels=("pipeline",),
        )
    )


def troubled(lake: str, *, now: datetime) -> list[PipelineRow]:
    """Return the pipelines of a lake that capture or apply nothing, though they should."""
    rows = pipeline_rows(Pipeline.objects.filter(lake=lake).order_by("name"), now=now)
    return [row for row in rows if row.state in TROUBLED]


def by_state() -> Iterator[Sample]:
    """Count the pipelines of each lake and state."""
    counted = Counter((row.pipeline.lake, row.state) for row in _rows())
    for (lake, state), n in sorted(counted.items()):
        yield {"lake": lake, "state": state.removeprefix("CDC_")}, n


def data_ages() -> Iterator[Sample]:
    """Tell how old what is in the lake is; a table that changes rarely looks old too."""
    now = timezone.now()
    for row in _rows():
        if row.data_at is not None and row.state is not PipelineState.PAUSED:
            yield {"pipeline": row.pipeline.name}, (now - row.data_at).total_seconds()


def quarantined() -> Iterator[Sample]:
    """Count what is in quarantine, by pipeline."""
    for row in _rows():
        yield {"pipeline": row.pipeline.name}, row.n_quarantined


def _rows() -> list[PipelineRow]:
    return pipeline_rows(Pipeline.objects.order_by("name"), now=timezone.now())
