"""Fields and addresses say whole numbers, or none."""

import pytest

from portal.ui.forms import whole_number


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("17", 17), ("9" * 18, 10**18 - 1)])
def test_digits_are_a_number(text: str, number: int) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize(
    "text", ["", "-1", "1.5", " 1", "\u00b2", "\u0661", "x", "9" * 19, "9" * 5_000]
)
def test_all_else_is_none(text: str) -> None:
    assert whole_number(text) is None
