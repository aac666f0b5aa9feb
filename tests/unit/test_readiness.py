"""The commit flag: only the word false hides data."""

import pytest

from portal.lake.readiness import is_ready


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
