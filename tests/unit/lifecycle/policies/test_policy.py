"""Which LEVEL and TTL may stand, who may put them there, and what is written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.core.domain.enrollment import read_policy
from lifecycle.policies.domain.policy import (
    KEYS,
    Asker,
    Route,
    Values,
    check_values,
    falls_due_sooner,
    put_back,
    raw_policy,
    route_of_database,
    route_of_table,
    written,
)
from lifecycle.policies.domain.states import (
    ENROLLMENT_TRANSITIONS,
    REQUEST_TRANSITIONS,
    EnrollmentState,
    RequestState,
)
from portal.lake.errors import NotAllowed, RuleViolation

ADMIN, OWNER, NOBODY = Asker(True, False), Asker(False, True), Asker(False, False)
LIFE = Values(1, 60)

values = st.builds(
    Values, st.sampled_from([0, 1]), st.one_of(st.none(), st.integers(1, 36_500))
).filter(lambda one: one.level == 0 or one.ttl is not None)
raw = st.dictionaries(
    st.sampled_from([*KEYS, "comment", "transient_lastDdlTime", "EXTERNAL"]),
    st.text(max_size=8),
)


@given(raw, values)
def test_what_is_written_reads_back_and_leaves_all_else(
    parameters: dict[str, str], wanted: Values
) -> None:
    after = written(parameters, wanted)
    policy = read_policy(after)
    assert not policy.problem
    assert Values(policy.level, policy.ttl) == wanted
    assert {k: v for k, v in after.items() if k not in KEYS} == {
        k: v for k, v in parameters.items() if k not in KEYS
    }
    assert put_back(after, raw_policy(parameters)) == parameters


def test_the_spelling_that_is_there_is_kept() -> None:
    assert written({"level": "1", "ttl": "5"}, LIFE) == {"level": "1", "ttl": "60"}
    assert written({"ttl": "5", "TTL": "6"}, LIFE) == {"LEVEL": "1", "TTL": "60"}
    assert written({"LEVEL": "1", "TTL": "6"}, Values(0)) == {"LEVEL": "0"}


@pytest.mark.parametrize(
    "odd",
    [Values(1, 0), Values(1, -1), Values(1, 10**12), Values(2, 5), Values(None, 5), Values(1)],
)
def test_values_that_mean_nothing_are_refused(odd: Values) -> None:
    with pytest.raises(RuleViolation) as error:
        check_values(odd)
    assert error.value.code == "policy.values"


@pytest.mark.parametrize(
    ("seen", "wanted", "asker", "expected"),
    [
        (LIFE, Values(1, 90), ADMIN, Route.NOW),
        (LIFE, Values(1, 90), OWNER, Route.ONE_ADMIN),
        (LIFE, Values(1, 30), OWNER, Route.ONE_ADMIN),
        (LIFE, Values(0, 60), OWNER, Route.ONE_ADMIN),
        (LIFE, Values(0, 60), ADMIN, Route.NOW),
        (Values(), Values(0), OWNER, Route.ONE_ADMIN),
        (Values(0, 60), Values(0, 90), ADMIN, Route.NOW),
        (LIFE, Values(1, 90), NOBODY, "policy.role"),
        (LIFE, LIFE, ADMIN, "policy.same"),
        (Values(), LIFE, ADMIN, "policy.enrol"),
        (Values(0, 60), LIFE, ADMIN, "policy.enrol"),
        (Values(0, 60), LIFE, OWNER, "policy.enrol"),
        (LIFE, Values(1, 0), ADMIN, "policy.values"),
    ],
)
def test_a_table_changes_by_one_of_two_ways_or_not_at_all(
    seen: Values, wanted: Values, asker: Asker, expected: str
) -> None:
    if isinstance(expected, Route):
        assert route_of_table(seen, wanted, asker) is expected
        return
    with pytest.raises((NotAllowed, RuleViolation)) as error:
        route_of_table(seen, wanted, asker)
    assert error.value.code == expected


def test_what_new_tables_get_is_an_admins_alone() -> None:
    assert route_of_database(Values(), LIFE, ADMIN) is Route.NOW
    for seen, wanted, asker in ((Values(), LIFE, OWNER), (LIFE, LIFE, ADMIN)):
        with pytest.raises((NotAllowed, RuleViolation)):
            route_of_database(seen, wanted, asker)


def test_one_day_is_no_days() -> None:
    assert str(Values(1, 1)) == "TTL 1 day (LEVEL 1)"
    assert str(LIFE) == "TTL 60 days (LEVEL 1)"


@given(values, values)
def test_sooner_is_never_both_ways(one: Values, other: Values) -> None:
    assert not (falls_due_sooner(one, other) and falls_due_sooner(other, one))
    assert not falls_due_sooner(one, one)


def test_what_falls_due_sooner() -> None:
    assert falls_due_sooner(LIFE, Values(1, 30))
    assert falls_due_sooner(Values(0, 60), LIFE)
    assert falls_due_sooner(Values(), LIFE)
    assert not falls_due_sooner(LIFE, Values(1, 90))
    assert not falls_due_sooner(LIFE, Values(0, 60))


def test_every_state_has_its_steps() -> None:
    assert set(REQUEST_TRANSITIONS) == set(RequestState)
    assert set(ENROLLMENT_TRANSITIONS) == set(EnrollmentState)
    for steps in (REQUEST_TRANSITIONS, ENROLLMENT_TRANSITIONS):
        assert all("PENDING" not in targets for targets in steps.values())
