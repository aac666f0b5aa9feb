"""The commit flag: only the word false hides data."""

import pytest

from portal.lake.readiness import is_ready, marked


@pytest.mark.parametrize(
    ("parameters", "ready"),
    [
        ({}, True),
        ({"commit": "true"}, True),
        ({"commit": "false"}, False),
        ({"commit": " FALSE "}, False),
        ({"commit": ""}, True),
        ({"commit": "0"}, True),
        ({"COMMIT": "false"}, True),
    ],
)
def test_only_the_word_false_means_not_ready(parameters: dict[str, str], ready: bool) -> None:
    assert is_ready(parameters) is ready


@pytest.mark.parametrize("ready", [True, False])
@pytest.mark.parametrize(
    "before", [{}, {"commit": "true"}, {"commit": " FALSE "}, {"commit": "odd", "note": "stays"}]
)
def test_the_flag_is_set_once_and_nothing_else_is_touched(
    before: dict[str, str], ready: bool
) -> None:
    after = marked(before, ready=ready)
    if after is None:
        assert is_ready(before) is ready
        return
    assert is_ready(after) is ready
    assert marked(after, ready=ready) is None
    assert {**after, "commit": ""} == {**before, "commit": ""}
