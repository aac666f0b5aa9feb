"""Checks of SodaCL become rules; each that does not fit is refused by its line, with the reason."""

import re

import pytest

from portal.lake.errors import RuleViolation
from quality.checks.domain.metrics import MetricKind
from quality.checks.domain.rules import Rule
from quality.checks.domain.soda import import_soda

K = MetricKind


def rule_of(text: str) -> Rule:
    found = import_soda(f"checks for sales.orders:\n  - {text}\n")
    assert found.refused == ()
    assert found.checks is not None
    (rule,) = found.checks.rules
    return rule


@pytest.mark.parametrize(
    ("text", "metric", "low", "high"),
    [
        ("row_count > 0", K.ROW_COUNT, 1, None),
        ("row_count between 10 and 1000", K.ROW_COUNT, 10, 1000),
        ("row_count = 5", K.ROW_COUNT, 5, 5),
        ("missing_count(x) = 0", K.NULL_COUNT, 0, 0),
        ("missing_percent(x) < 5", K.NULL_RATE, None, 0.05),
        ("missing_percent(x) <= 5%", K.NULL_RATE, None, 0.05),
        ("duplicate_count(x) = 0", K.DUPLICATE_ROWS, 0, 0),
        ("duplicate_count(x, y) < 10", K.DUPLICATE_ROWS, None, 9),
        ("avg(x) between 1.5 and 2", K.MEAN, 1.5, 2),
        ("sum(x) >= -3", K.SUM, -3, None),
        ("min_length(x) > 2", K.MIN_LENGTH, 3, None),
        ("stddev(x) < 2.5", K.STDDEV, None, 2.5),
        ("freshness(x) < 1d", K.FRESHNESS, None, 86400),
        ("freshness(x) < 1d6h30m", K.FRESHNESS, None, 109800),
    ],
)
def test_a_check_becomes_a_rule(
    text: str, metric: MetricKind, low: float | None, high: float | None
) -> None:
    rule = rule_of(text)
    assert rule.metric is metric
    for bound, expected in ((rule.min, low), (rule.max, high)):
        assert bound == (None if expected is None else pytest.approx(expected, rel=1e-6))


def test_valid_values_become_rates() -> None:
    regex = rule_of("invalid_count(mail) = 0:\n      valid regex: '^.+@.+$'\n      name: mails")
    assert (regex.metric, regex.pattern, regex.min, regex.name) == (
        K.REGEX_RATE, "^.+@.+$", 1, "mails",
    )  # fmt: skip
    values = rule_of("invalid_percent(c) < 5:\n      valid values: [a, b]")
    assert (values.metric, values.values) == (K.IN_SET_RATE, ("a", "b"))
    assert values.min == pytest.approx(0.95)
    limits = rule_of("invalid_count(n) = 0:\n      valid min: 1\n      valid max: 9")
    assert (limits.metric, limits.low, limits.high) == (K.RANGE_RATE, 1, 9)


def test_quantiles_filters_and_schemas() -> None:
    quantile = rule_of("percentile(x, 0.95) < 7:\n      filter: y = 1")
    assert (quantile.metric, quantile.q, quantile.where) == (K.QUANTILE, 0.95, "y = 1")
    schema = rule_of(
        "schema:\n      fail:\n        when required column missing: [a, b]\n"
        "        when wrong column type: {a: int}"
    )
    assert (schema.metric, schema.types) == (K.SCHEMA, {"a": "int", "b": ""})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("anomaly detection for row_count", "learnt"),
        ("change for row_count < 5", "compare"),
        ("row_count same as other", "not known"),
        ("row_count !=", "bound is not known"),
        ("magic(x) < 5", "magic is not known"),
        ("invalid_count(x) = 0", "valid regex"),
        ("invalid_count(x) < 5:\n      valid min: 1", "only `= 0`"),
        ("invalid_count(x) = 0:\n      valid format: email", "valid regex"),
        ("row_count:\n      warn: when < 5", "not known"),
        ("avg(x) < 5:\n      samples limit: 4", "samples limit"),
        ("avg(x, y) < 5", "one column"),
        ("schema:\n      fail:\n        when schema changes: any", "when schema changes"),
        ("freshness(x) < soon", "1d, 3h or 30m"),
        ("avg(x) < 5:\n      filter: 'drop table x'", "condition"),
    ],
)
def test_what_does_not_fit_is_refused_and_the_rest_is_taken(text: str, reason: str) -> None:
    found = import_soda(f"checks for sales.orders:\n  - row_count > 0\n  - {text}\n")
    assert found.checks is not None
    assert [one.metric for one in found.checks.rules] == [K.ROW_COUNT]
    (refused,) = found.refused
    assert text.startswith(refused.check)
    assert re.search(re.escape(reason), refused.reason), refused.reason


def test_rules_of_one_metric_get_names_of_their_own() -> None:
    found = import_soda("checks for orders:\n  - row_count > 0\n  - row_count < 9", db="sales")
    assert found.checks is not None
    assert (found.checks.table, [one.name for one in found.checks.rules]) == (
        "sales.orders",
        ["row_count", "row_count_2"],
    )


@pytest.mark.parametrize(
    "text", ["a: 1", "- x", "checks for a.b: 5", "checks for a.b: []\nchecks for c.d: []"]
)
def test_other_documents_are_refused(text: str) -> None:
    with pytest.raises(RuleViolation, match="no SodaCL"):
        import_soda(text)


def test_nothing_that_fits_gives_no_check_set() -> None:
    found = import_soda("checks for a.b:\n  - magic > 1")
    assert (found.checks, len(found.refused)) == (None, 1)


@pytest.mark.parametrize(
    "check",
    [
        "percentile(price, most) > 1",
        "schema: {fail: {when required column missing: 5}}",
        "schema: {fail: {when wrong column type: [id]}}",
    ],
)
def test_settings_of_another_form_are_refused_by_their_line(check: str) -> None:
    found = import_soda(f"checks for shop.orders:\n  - {check}\n  - row_count > 0\n")
    assert found.checks is not None
    assert [one.line for one in found.refused] == [2]
