"""Casts: what does not fit a type of the lake is told, and what fits is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.fitting_texts import cast_problem

FITS = [
    ("int", "2147483647"),
    ("int", "-2147483648"),
    ("bigint", "9223372036854775807"),
    ("decimal(20,0)", "18446744073709551615"),
    ("decimal(5,2)", "-999.99"),
    ("decimal(5,2)", "0999.990"),
    ("decimal(3,3)", "0.123"),
    ("float", "0.1"),
    ("float", "3.4028235e+38"),
    ("float", "16777216.0"),
    ("float", "nan"),
    ("double", "1.7976931348623157e+308"),
    ("double", "-inf"),
    ("double", "9007199254740992"),
    ("boolean", "1"),
    ("date", "0001-01-01"),
    ("timestamp", "9999-12-31 23:59:59.999999"),
    ("binary", ""),
    ("string", "anything"),
]
DOES_NOT = [
    ("int", "2147483648"),
    ("int", "-2147483649"),
    ("int", "1.0"),
    ("int", ""),
    ("int", " 1"),
    ("bigint", "9223372036854775808"),
    ("decimal(5,2)", "1000.00"),
    ("decimal(5,2)", "1.001"),
    ("decimal(5,2)", "1e2"),
    ("decimal(20,0)", "100000000000000000000"),
    ("float", "0.123456789"),
    ("float", "16777217"),
    ("float", "1e39"),
    ("double", "9007199254740993"),
    ("double", "1e309"),
    ("double", "x"),
    ("boolean", "2"),
    ("boolean", "true"),
    ("date", "0000-00-00"),
    ("date", "2024-02-00"),
    ("date", "2024-02-30"),
    ("date", "2024-02-29 00:00:00"),
    ("timestamp", "0000-00-00 00:00:00"),
    ("timestamp", "2024-02-31 00:00:00"),
    ("timestamp", "2024-02-29 24:00:00"),
    ("timestamp", "2024-02-29"),
    ("binary", "a"),
    ("binary", "é"),
]


@pytest.mark.parametrize(("lake", "text"), FITS)
def test_what_fits_has_no_problem(lake: str, text: str) -> None:
    assert cast_problem(text, lake) == ""


@pytest.mark.parametrize(("lake", "text"), DOES_NOT)
def test_what_does_not_fit_is_told(lake: str, text: str) -> None:
    assert cast_problem(text, lake)


@pytest.mark.parametrize("lake", sorted({lake for lake, _ in FITS}))
def test_null_fits_everything(lake: str) -> None:
    assert cast_problem(None, lake) == ""


@given(st.integers())
def test_integers_fit_within_their_range(number: int) -> None:
    assert (cast_problem(str(number), "int") == "") == (-(2**31) <= number < 2**31)
    assert (cast_problem(str(number), "bigint") == "") == (-(2**63) <= number < 2**63)


@given(st.integers(), st.integers(1, 38), st.data())
def test_decimals_fit_within_their_digits(number: int, precision: int, data: st.DataObject) -> None:
    scale = data.draw(st.integers(0, precision))
    sign, digits = ("-" if number < 0 else ""), str(abs(number)).rjust(scale + 1, "0")
    text = f"{sign}{digits[: len(digits) - scale]}.{digits[len(digits) - scale :]}".rstrip(".")
    problem = cast_problem(text, f"decimal({precision},{scale})")
    assert (problem == "") == (abs(number) < 10**precision)


@given(st.sampled_from([lake for lake, _ in FITS if lake != "string"]), st.text())
def test_any_text_is_judged_without_an_error(lake: str, text: str) -> None:
    cast_problem(text, lake)
