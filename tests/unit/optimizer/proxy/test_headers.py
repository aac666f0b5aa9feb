"""A text becomes the value of a header, whatever is in it."""

import pytest

from optimizer.proxy.domain.headers import as_value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", ""),
        ("db.kept: qty > 3 is needed", "db.kept: qty > 3 is needed"),
        ("a\r\nSet-Cookie: b\n\n c", "a Set-Cookie: b c"),
        ("ß 'x\x00\x7f'", "? 'x??'"),
        ("x" * 1_001, "x" * 1_000 + "..."),
    ],
)
def test_a_value_is_one_printable_line(text: str, value: str) -> None:
    assert as_value(text) == value
