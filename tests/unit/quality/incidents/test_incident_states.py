"""Whatever steps are taken in whatever order, an incident stays one that makes sense."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from quality.checks.domain.rules import Severity
from quality.incidents.domain.states import (
    CLOSED,
    UNCLOSED,
    Standing,
    State,
    Team,
    Timing,
    acknowledged,
    assigned,
    closed,
    escalated,
    lapsed,
    opened,
    rated,
    reopened,
)

NOW = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
TIMING = Timing(8 * HOUR, 24 * HOUR, 72 * HOUR)
NEVER = Timing(None, None, None)
TEAMS = list(Team)
PAUSES = st.one_of(st.none(), st.integers(1, 100).map(lambda n: n * HOUR))
TIMINGS = st.builds(Timing, PAUSES, PAUSES, PAUSES)
STEPS = st.sampled_from(
    ["acknowledge", "assign", "resolve", "recover", "reopen", "escalate", "lapse", "alarm", "block"]
)


def fresh(timing: Timing = TIMING) -> Standing:
    return opened(Severity.ALARM, team=Team.OWNER, assignee="olga", timing=timing, now=NOW)


def stepped(row: Standing, step: str, who: str, timing: Timing, now: datetime) -> Standing | None:
    steps: dict[str, Callable[[], Standing | None]] = {
        "acknowledge": lambda: acknowledged(row, by=who, timing=timing, now=now),
        "assign": lambda: assigned(row, to=who, timing=timing, now=now),
        "resolve": lambda: closed(row, State.RESOLVED),
        "recover": lambda: closed(row, State.RECOVERED),
        "reopen": lambda: reopened(row, timing=timing, now=now),
        "escalate": lambda: escalated(row, timing=timing, now=now),
        "lapse": lambda: lapsed(row, timing=timing, now=now),
        "alarm": lambda: rated(row, Severity.ALARM, timing=timing, now=now),
        "block": lambda: rated(row, Severity.BLOCK, timing=timing, now=now),
    }
    return steps[step]()


@given(
    st.lists(st.tuples(STEPS, st.sampled_from(["olga", "dora", "otto"]), st.integers(0, 50))),
    TIMINGS,
)
def test_no_order_of_steps_makes_nonsense(
    steps: list[tuple[str, str, int]], timing: Timing
) -> None:
    row, now = fresh(timing), NOW
    for step, who, n_hours in steps:
        now += n_hours * HOUR
        before, found = row, stepped(row, step, who, timing, now)
        if found is None:
            continue
        row = found
        assert (row.state in CLOSED) is (row.state not in UNCLOSED)
        if row.state in CLOSED:
            assert row.due_at is None
        if row.state is State.ACKNOWLEDGED:
            assert row.assignee
        if before.state in CLOSED and step not in ("alarm", "block"):
            assert (step, row.state) == ("reopen", State.OPEN), "only reopening opens it"
        assert TEAMS.index(row.team) >= TEAMS.index(before.team), "escalation never goes back"
        if step != "escalate":
            assert row.team is before.team


@given(STEPS, TIMINGS)
def test_a_step_that_is_taken_already_changes_nothing(step: str, timing: Timing) -> None:
    later = NOW + 1000 * HOUR
    once = stepped(fresh(timing), step, "olga", timing, later)
    if once is None or step == "escalate":
        return
    assert stepped(once, step, "olga", timing, later) in (once, None)


def test_it_escalates_from_the_owner_to_operators_to_admins_and_no_further() -> None:
    row = fresh()
    assert escalated(row, timing=TIMING, now=NOW + 7 * HOUR) is None
    at = NOW + 8 * HOUR
    found = escalated(row, timing=TIMING, now=at)
    assert found == Standing(State.OPEN, Severity.ALARM, Team.OPERATORS, "", at + 24 * HOUR)
    last = escalated(found, timing=TIMING, now=at + 24 * HOUR)
    assert last == Standing(State.OPEN, Severity.ALARM, Team.ADMINS, "", None)
    assert escalated(last, timing=TIMING, now=at + 1000 * HOUR) is None
    assert fresh(NEVER).due_at is None


def test_an_acknowledgement_stops_escalation_for_its_time() -> None:
    row = acknowledged(fresh(), by="dora", timing=TIMING, now=NOW)
    assert row == Standing(State.ACKNOWLEDGED, Severity.ALARM, Team.OWNER, "dora", NOW + 72 * HOUR)
    assert escalated(row, timing=TIMING, now=NOW + 100 * HOUR) is None
    assert lapsed(row, timing=TIMING, now=NOW + 71 * HOUR) is None
    again = lapsed(row, timing=TIMING, now=NOW + 72 * HOUR)
    assert again is not None
    assert (again.state, again.assignee) == (State.OPEN, "dora")
    taken = acknowledged(row, by="olga", timing=TIMING, now=NOW)
    assert taken is not None
    assert taken.assignee == "olga"


def test_who_is_given_an_incident_has_not_acknowledged_it() -> None:
    row = acknowledged(fresh(), by="dora", timing=TIMING, now=NOW)
    assert row is not None
    found = assigned(row, to="otto", timing=TIMING, now=NOW)
    assert found is not None
    assert (found.state, found.assignee) == (State.OPEN, "otto")


def test_a_worse_severity_needs_a_new_acknowledgement_and_a_lesser_one_does_not() -> None:
    row = acknowledged(fresh(), by="dora", timing=TIMING, now=NOW)
    assert row is not None
    worse = rated(row, Severity.BLOCK, timing=TIMING, now=NOW)
    assert (worse.state, worse.severity) == (State.OPEN, Severity.BLOCK)
    held = acknowledged(worse, by="dora", timing=TIMING, now=NOW)
    assert held is not None
    assert rated(held, Severity.ALARM, timing=TIMING, now=NOW).state is State.ACKNOWLEDGED
