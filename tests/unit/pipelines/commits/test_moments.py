"""Texts that Spark reads as the present moment are found; others are not."""

import pytest
import sqlglot

from pipelines.commits.domain.moments import present_text


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("dt = DATE 'today'", "today"),
        ("dt >= ' Yesterday '", " Yesterday "),
        ("at < CAST('now UTC' AS TIMESTAMP)", "now UTC"),
        ("datediff('tomorrow+01:00', dt)", "tomorrow+01:00"),
        ("to_date(r'now')", "now"),
        ("dt = DATE '2026-11-28'", ""),
        ("word = 'nowhere'", ""),
        ("word = 'seen today'", ""),
        ("word LIKE 'today'", ""),
        ("today = 3", ""),
    ],
)
def test_texts_that_mean_the_present_moment_are_found(sql: str, found: str) -> None:
    assert present_text(sqlglot.parse_one(sql, dialect="spark")) == found
