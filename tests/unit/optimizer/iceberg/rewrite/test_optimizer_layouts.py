"""Tests layouts: read, written and refused as people expect."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.iceberg.rewrite.domain.layouts import (
    NO_LAYOUT,
    Layout,
    LayoutKind,
    parse_layout,
    refuse_columns,
)
from portal.lake.errors import RuleViolation

KINDS = st.sampled_from([LayoutKind.SORT, LayoutKind.ZORDER, LayoutKind.HILBERT])
COLUMNS = st.lists(
    st.text("abcdefgh_.0123", min_size=1, max_size=8), min_size=1, max_size=4, unique=True
)


@given(KINDS, COLUMNS)
def test_a_layout_is_read_back_from_its_text(kind: LayoutKind, columns: list[str]) -> None:
    layout = Layout(kind, tuple(columns))
    assert parse_layout(str(layout)) == layout


@pytest.mark.parametrize("text", ["", "  ", "none", "NONE"])
def test_nothing_is_no_layout(text: str) -> None:
    assert parse_layout(text) == NO_LAYOUT
    assert not parse_layout(text)
    assert str(NO_LAYOUT) == ""


def test_case_and_blanks_do_not_matter() -> None:
    assert parse_layout(" Hilbert ( a , b ) ") == Layout(LayoutKind.HILBERT, ("a", "b"))


@pytest.mark.parametrize("text", ["hilbert", "peano(a)", "hilbert(a", "none(a)", "sort(a)(b)"])
def test_another_form_is_refused_with_the_right_one(text: str) -> None:
    with pytest.raises(RuleViolation, match=r"Write hilbert\(a,b\)") as refused:
        parse_layout(text)
    assert refused.value.code == "layout.form"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hilbert(a,b,c,d,e)", "has 5 columns"),
        ("zorder(a,b,a)", "names a twice"),
        ("sort()", "a name for each"),
        ("sort(a,,b)", "a name for each"),
    ],
)
def test_columns_that_mean_nothing_are_refused(text: str, says: str) -> None:
    with pytest.raises(RuleViolation, match=says) as refused:
        parse_layout(text)
    assert refused.value.code == "layout.columns"


def test_columns_are_held_against_the_table() -> None:
    types = {
        "a": "int",
        "s": "struct<x: int>",
        "b": "binary",
        "f": "fixed[16]",
        "d": "decimal(9, 2)",
    }
    refuse_columns(parse_layout("hilbert(a,d)"), types)
    with pytest.raises(RuleViolation, match="names gone, which the table does not have") as missing:
        refuse_columns(parse_layout("hilbert(a,gone)"), types)
    assert missing.value.code == "layout.missing"
    for name in ("s", "b", "f"):
        with pytest.raises(RuleViolation, match=rf"names {name} \(.*cannot be ordered") as bad:
            refuse_columns(parse_layout(f"sort({name})"), types)
        assert bad.value.code == "layout.type"
