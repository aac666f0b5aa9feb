"""In which state a pipeline and each of its tables are, from what was last heard of them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

SILENCE = timedelta(seconds=60)
"""After this a program that should report is taken for dead; it reports every few seconds."""


class Desired(StrEnum):
    """What people want of a pipeline or a table."""

    RUNNING = "RUNNING"
    PAUSED = "PAUSED"


class PipelineState(StrEnum):
    """How a pipeline is, in one word; the worst that is so."""

    PAUSED = "CDC_PAUSED"
    FAILED = "CDC_FAILED"
    SILENT = "CDC_SILENT"
    STARTING = "CDC_STARTING"
    HELD = "CDC_HELD"
    LOADING = "CDC_LOADING"
    RUNNING = "CDC_RUNNING"


class TableState(StrEnum):
    """How a captured table is, in one word."""

    PAUSED = "CDC_TABLE_PAUSED"
    REFUSED = "CDC_TABLE_REFUSED"
    FAILED = "CDC_TABLE_FAILED"
    HELD = "CDC_TABLE_HELD"
    LOADING = "CDC_TABLE_LOADING"
    LIVE = "CDC_TABLE_LIVE"
    WAITING = "CDC_TABLE_WAITING"


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What is known of a table."""

    desired: Desired
    refused: str = ""
    """Why it cannot be captured: no primary key, say."""
    problem: str = ""
    """Why its changes are not applied."""
    is_held: bool = False
    """Whether a change of its schema waits for a person."""
    is_loaded: bool = False
    """Whether its full load is captured to its end."""
    applied_at: datetime | None = None


def table_state(facts: TableFacts) -> TableState:
    """Return a table's state; what a person has to do comes first."""
    if facts.desired is Desired.PAUSED:
        return TableState.PAUSED
    if facts.refused:
        return TableState.REFUSED
    if facts.problem:
        return TableState.FAILED
    if facts.is_held:
        return TableState.HELD
    if not facts.is_loaded:
        return TableState.LOADING
    return TableState.LIVE if facts.applied_at else TableState.WAITING


@dataclass(frozen=True, slots=True)
class PipelineFacts:
    """What is known of a pipeline."""

    desired: Desired
    problem: str = ""
    """Why its capture or its apply has stopped."""
    desired_at: datetime | None = None
    """When people last said what they want."""
    heard_at: datetime | None = None
    """When its capture last reported."""
    tables: tuple[TableState, ...] = ()


def pipeline_state(facts: PipelineFacts, *, now: datetime) -> PipelineState:
    """Return a pipeline's state; `SILENT` needs an operator, for nothing is captured."""
    if facts.desired is Desired.PAUSED:
        return PipelineState.PAUSED
    if facts.problem:
        return PipelineState.FAILED
    since = max(filter(None, (facts.heard_at, facts.desired_at)), default=now)
    if now - since > SILENCE:
        return PipelineState.SILENT
    if facts.heard_at is None:
        return PipelineState.STARTING
    if TableState.FAILED in facts.tables:
        return PipelineState.FAILED
    if TableState.HELD in facts.tables:
        return PipelineState.HELD
    if TableState.LOADING in facts.tables:
        return PipelineState.LOADING
    return PipelineState.RUNNING
