"""The rule for the texts that people give with an act."""

import pytest

from portal.lake.errors import RuleViolation
from portal.lake.reasons import check_reason, check_text, shown_text


@pytest.mark.parametrize("sign", ["\x00", "\x01", "\x08", "\x1b", "\x7f", "\x85", "\x9b", "\ud800"])
def test_a_control_character_is_refused_and_named(sign: str) -> None:
    with pytest.raises(RuleViolation) as error:
        check_text(f"old{sign}logs")
    assert error.value.code == "text.control"
    assert f"U+{ord(sign):04X}" in error.value.message
    assert error.value.fields["field"] == "reason"
    assert shown_text(f"old{sign}logs") == "old\ufffdlogs"


@pytest.mark.parametrize(
    "text",
    ["", "old logs", "two\nlines", "two\r\nlines", "a\ttab", "Übung 日本 🙂", "a\u00adb\u200db"],
)
def test_everything_else_may_stand(text: str) -> None:
    check_text(text)
    assert shown_text(text) == text


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_act_needs_a_reason(text: str) -> None:
    with pytest.raises(RuleViolation) as error:
        check_reason(text, "hold.reason", "Enter a reason.")
    assert (error.value.code, error.value.message) == ("hold.reason", "Enter a reason.")
    check_reason("a case", "hold.reason", "Enter a reason.")
