"""The state of a pipeline and of its tables is the worst that is so."""

from datetime import UTC, datetime, timedelta

import pytest

from pipelines.cdc.control.domain.states import (
    SILENCE,
    Desired,
    PipelineFacts,
    PipelineState,
    TableFacts,
    TableState,
    pipeline_state,
    table_state,
)

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
LATELY = NOW - timedelta(seconds=3)
LONG_AGO = NOW - SILENCE - timedelta(seconds=1)


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        (TableFacts(Desired.RUNNING), TableState.LOADING),
        (TableFacts(Desired.RUNNING, is_loaded=True), TableState.WAITING),
        (TableFacts(Desired.RUNNING, is_loaded=True, applied_at=NOW), TableState.LIVE),
        (TableFacts(Desired.RUNNING, is_held=True, applied_at=NOW), TableState.HELD),
        (TableFacts(Desired.RUNNING, problem="no", is_held=True), TableState.FAILED),
        (TableFacts(Desired.RUNNING, refused="no key", problem="no"), TableState.REFUSED),
        (TableFacts(Desired.PAUSED, refused="no key"), TableState.PAUSED),
    ],
)
def test_a_table_says_what_a_person_has_to_do_first(facts: TableFacts, state: TableState) -> None:
    assert table_state(facts) is state


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        (PipelineFacts(Desired.RUNNING, desired_at=LATELY), PipelineState.STARTING),
        (PipelineFacts(Desired.RUNNING, desired_at=LONG_AGO), PipelineState.SILENT),
        (
            PipelineFacts(Desired.RUNNING, desired_at=LATELY, heard_at=LONG_AGO),
            PipelineState.RUNNING,
        ),
        (
            PipelineFacts(Desired.RUNNING, desired_at=LONG_AGO, heard_at=LONG_AGO),
            PipelineState.SILENT,
        ),
        (PipelineFacts(Desired.RUNNING, problem="no", heard_at=LONG_AGO), PipelineState.FAILED),
        (PipelineFacts(Desired.PAUSED, problem="no"), PipelineState.PAUSED),
    ],
)
def test_silence_is_told_apart_from_a_start(facts: PipelineFacts, state: PipelineState) -> None:
    assert pipeline_state(facts, now=NOW) is state


@pytest.mark.parametrize(
    ("tables", "state"),
    [
        ((TableState.LIVE, TableState.WAITING), PipelineState.RUNNING),
        ((TableState.LIVE, TableState.LOADING), PipelineState.LOADING),
        ((TableState.LOADING, TableState.HELD), PipelineState.HELD),
        ((TableState.HELD, TableState.FAILED), PipelineState.FAILED),
        # What people left out on purpose is no state of the pipeline.
        ((TableState.PAUSED, TableState.REFUSED), PipelineState.RUNNING),
    ],
)
def test_a_pipeline_is_as_the_worst_of_its_tables(
    tables: tuple[TableState, ...], state: PipelineState
) -> None:
    facts = PipelineFacts(Desired.RUNNING, desired_at=LATELY, heard_at=LATELY, tables=tables)
    assert pipeline_state(facts, now=NOW) is state
