"""What nobody uses: given up only where readers tell, and only what is old enough."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.advice.domain.give_up import (
    LEAST_DAYS,
    UNUSED_FOR,
    GiveUp,
    Heard,
    Kept,
    decide_give_up,
    decide_layout_give_up,
)
from optimizer.advice.domain.layout_advice import LEAST_SCANS, NoProposal

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
OLD = NOW - UNUSED_FOR
HEARD = Heard(LEAST_SCANS, LEAST_DAYS, readers_report=True)
UNUSED = Kept("user_id:bloom", OLD, 0, 3 << 20, 40.0)


def test_what_left_out_nothing_for_four_weeks_is_given_up() -> None:
    used = Kept("id", OLD, 7, 1 << 20)
    judged = decide_give_up([used, UNUSED], HEARD, what="file index", now=NOW)
    assert isinstance(judged, GiveUp)
    assert (judged.names, judged.n_bytes, judged.seconds_a_day) == (
        ("user_id:bloom",),
        3 << 20,
        40.0,
    )
    assert "the file index user_id:bloom left out nothing" in judged.reason
    assert "It takes 3 MiB and 40.0 s of builds a day." in judged.reason


def test_several_are_said_together() -> None:
    other = Kept("city", OLD, 0, 1 << 20)
    judged = decide_give_up([UNUSED, other], HEARD, what="file index", now=NOW)
    assert isinstance(judged, GiveUp)
    assert "the file indexes user_id:bloom, city left" in judged.reason
    assert "They take 4 MiB" in judged.reason


@pytest.mark.parametrize(
    ("heard", "said"),
    [
        (replace(HEARD, n_scans=LEAST_SCANS - 1), "are needed"),
        (replace(HEARD, n_days=LEAST_DAYS - 1), "are needed"),
        (replace(HEARD, readers_report=False), "nobody knows"),
        (replace(HEARD, is_narrowed=True), "no report counts"),
    ],
)
def test_silence_is_no_evidence(heard: Heard, said: str) -> None:
    judged = decide_give_up([UNUSED], heard, what="file index", now=NOW)
    assert isinstance(judged, NoProposal)
    assert said in judged.reason


@given(
    st.lists(
        st.builds(
            Kept,
            st.text(min_size=1, max_size=5),
            st.none() | st.timedeltas(timedelta(0), timedelta(60)).map(lambda age: NOW - age),
            st.integers(0, 2),
            st.integers(0, 10**12),
        ),
        max_size=6,
    )
)
def test_only_what_is_unused_and_old_is_ever_given_up(kept: list[Kept]) -> None:
    judged = decide_give_up(kept, HEARD, what="cube", now=NOW)
    wanted = [
        one.name
        for one in kept
        if one.n_used == 0 and one.since is not None and NOW - one.since >= timedelta(days=28)
    ]
    assert (list(judged.names) if isinstance(judged, GiveUp) else []) == wanted


LAYOUT = Kept("hilbert(id,city)", OLD, 0, 0, 12.5)


def test_a_layout_that_nobody_filters_by_is_given_up() -> None:
    judged = decide_layout_give_up(LAYOUT, replace(HEARD, readers_report=False), now=NOW)
    assert isinstance(judged, GiveUp)
    assert (judged.names, judged.seconds_a_day) == (("hilbert(id,city)",), 12.5)
    assert "none of four weeks filtered a column of the layout hilbert(id,city)" in judged.reason
    assert "12.5 s of rewrites a day" in judged.reason
    free = decide_layout_give_up(replace(LAYOUT, seconds_a_day=0.0), HEARD, now=NOW)
    assert isinstance(free, GiveUp)
    assert "No file was rewritten for it." in free.reason


@pytest.mark.parametrize(
    ("layout", "heard", "said"),
    [
        (LAYOUT, replace(HEARD, n_scans=LEAST_SCANS - 1), "are needed"),
        (LAYOUT, replace(HEARD, n_days=LEAST_DAYS - 1), "are needed"),
        (LAYOUT, replace(HEARD, is_overwritten=True), "replaced files"),
        (LAYOUT, replace(HEARD, is_cut=True), "nobody knows"),
        (replace(LAYOUT, n_used=1), HEARD, "was filtered by"),
        (replace(LAYOUT, since=NOW - timedelta(days=27)), HEARD, "younger"),
        (replace(LAYOUT, since=None), HEARD, "younger"),
    ],
)
def test_a_layout_stays_on_doubt(layout: Kept, heard: Heard, said: str) -> None:
    judged = decide_layout_give_up(layout, heard, now=NOW)
    assert isinstance(judged, NoProposal)
    assert said in judged.reason
