"""What `auto` builds follows from the table's real values, and what is refused has its figures."""

from dataclasses import replace

import pytest

from optimizer.iceberg.indexing.jobs.auto_choice import decide
from optimizer.indexes.domain.choice.kinds import Use
from optimizer.indexes.domain.choice.profile import ColumnProfile
from optimizer.indexes.domain.values import ColumnType, ValueClass

LONG, TEXT = ColumnType(ValueClass.INTEGER), ColumnType(ValueClass.STRING)


KNOWN = ColumnProfile(
    LONG,
    files=100,
    file_bytes=64e6,
    rows_a_file=1e6,
    distinct_a_file=1e6,
    distinct=1e8,
    let_through=1.0,
)


@pytest.mark.parametrize(
    ("of", "kind"),
    [
        (KNOWN, "bloomrf"),
        (replace(KNOWN, type=TEXT), "bloom"),
        (replace(KNOWN, distinct_a_file=50, distinct=5000), "bitmap"),
    ],
)
def test_the_kind_that_pays_is_built(of: ColumnProfile, kind: str) -> None:
    assert decide(of)[0] == kind


def test_what_scans_ask_for_comes_before_what_the_type_suggests() -> None:
    text = replace(KNOWN, type=TEXT)
    assert decide(text, {Use.PART}) == ("ngram_bloom", "recorded scans look for parts of its text.")
    assert decide(KNOWN, {Use.POINT})[0] == "bloom"
    refused, reason = decide(KNOWN, {Use.PART})
    assert refused == "", "a number has no parts"
    assert "no kind fits how it is asked for" in reason


@pytest.mark.parametrize(
    ("of", "reason"),
    [
        (None, "only nulls"),
        (replace(KNOWN, distinct=1, distinct_a_file=1), "one value"),
        (replace(KNOWN, distinct_a_file=10, distinct=10), "as many files with it as without"),
        (replace(KNOWN, let_through=0.011), "sorted by it"),
        (
            replace(KNOWN, rows_a_file=5e7, file_bytes=1e5, distinct_a_file=1e7, distinct=1e9),
            "saves",
        ),
    ],
)
def test_what_does_not_pay_is_refused_with_its_figures(
    of: ColumnProfile | None, reason: str
) -> None:
    kind, said = decide(of)
    assert (kind, reason in said) == ("", True), said
    if of is not None and reason.startswith(("as many", "saves")):
        assert "files a look-up opens" in said
        assert "MB" in said
