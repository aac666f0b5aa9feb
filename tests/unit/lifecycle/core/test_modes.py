"""Trust in a database grows a step at a time and may be taken back at once."""

import pytest

from lifecycle.core.domain.modes import DatabaseMode, can_change


@pytest.mark.parametrize(
    ("current", "wanted", "allowed"),
    [
        ("OBSERVE", "NOTIFY", True),
        ("NOTIFY", "ACT", True),
        ("OBSERVE", "ACT", False),
        ("ACT", "OBSERVE", True),
        ("ACT", "NOTIFY", True),
        ("NOTIFY", "NOTIFY", False),
    ],
)
def test_trust_grows_one_step_at_a_time(current: str, wanted: str, allowed: bool) -> None:
    assert can_change(DatabaseMode(current), DatabaseMode(wanted)) is allowed


def test_only_act_acts_and_observe_tells_nobody() -> None:
    assert [mode.may_act for mode in DatabaseMode] == [False, False, True]
    assert [mode.may_notify for mode in DatabaseMode] == [False, True, True]
