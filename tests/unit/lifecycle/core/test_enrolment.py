"""LEVEL and TTL are read from the table alone, and strictly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.core.domain.enrollment import Policy, read_policy


@pytest.mark.parametrize(
    ("parameters", "level", "ttl", "enrolled"),
    [
        ({}, None, None, False),
        ({"LEVEL": "1", "TTL": "60"}, 1, 60, True),
        ({"level": "1", "ttl": "60"}, 1, 60, True),
        ({"LEVEL": " 1 ", "ttl": " 7"}, 1, 7, True),
        ({"LEVEL": "0", "TTL": "60"}, 0, 60, True),
        ({"LEVEL": "0"}, 0, None, False),
        ({"LEVEL": "1"}, 1, None, False),
        ({"TTL": "60"}, None, 60, False),
        ({"Level": "1", "Ttl": "60"}, None, None, False),
    ],
)
def test_a_table_is_enrolled_by_its_own_level_and_ttl(
    parameters: dict[str, str], level: int | None, ttl: int | None, enrolled: bool
) -> None:
    assert read_policy(parameters) == Policy(level, ttl, enrolled)


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"LEVEL": "1", "TTL": "60", "ttl": "60"}, "Both TTL and ttl are set"),
        ({"LEVEL": "1", "level": "0", "TTL": "60"}, "Both LEVEL and level are set"),
        ({"LEVEL": "2", "TTL": "60"}, "LEVEL is '2', not 0 or 1"),
        ({"LEVEL": "1", "TTL": "sixty"}, "TTL is 'sixty'"),
        ({"LEVEL": "1", "TTL": "0"}, "TTL is 0"),
        ({"LEVEL": "1", "TTL": "-5"}, "TTL is '-5'"),
        ({"LEVEL": "1", "TTL": "99999"}, "TTL is 99999"),
        ({"LEVEL": "1", "TTL": "٣"}, "TTL is '٣'"),
        ({"LEVEL": "1", "TTL": "60\n"}, "TTL is '60\\n'"),
        ({"LEVEL": "", "TTL": "1.5"}, "LEVEL is ''"),
    ],
)
def test_what_cannot_be_read_is_a_problem_and_never_enrolled(
    parameters: dict[str, str], says: str
) -> None:
    policy = read_policy(parameters)
    assert says in policy.problem
    assert not policy.enrolled


@given(st.dictionaries(st.sampled_from(["LEVEL", "level", "TTL", "ttl", "x"]), st.text(max_size=6)))
def test_any_parameters_at_all_are_read_without_an_error(parameters: dict[str, str]) -> None:
    policy = read_policy(parameters)
    assert not (policy.enrolled and policy.problem)
    if policy.enrolled:
        assert policy.level in {0, 1}
        assert policy.ttl is not None
        assert policy.ttl >= 1


def test_level_zero_keeps_for_ever_unless_it_is_unclear() -> None:
    assert read_policy({"LEVEL": "0"}).keeps_forever
    assert not read_policy({"LEVEL": "0", "level": "0"}).keeps_forever
