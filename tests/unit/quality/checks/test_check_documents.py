"""Check sets are read from YAML; what is wrong is named by rule and field, with what to do."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.lake.errors import RuleViolation
from quality.checks.domain.documents import read_document, read_parsed, to_parsed, write_document
from quality.checks.domain.metrics import LONGEST_KEY, Metric, MetricKind, schema_differences
from quality.checks.domain.plan import metrics_of, plan_metrics, reason_separate
from quality.checks.domain.rules import CheckSet, Rule, Severity, complete
from quality.checks.domain.starting_rules import starting_rules

HEAD = "table: sales.orders\npartition_key: dt\nrules:\n"
DOCUMENT = (
    HEAD
    + """
  - name: enough_rows
    metric: row_count
    min: 1000
    severity: block
  - {metric: null_rate, column: customer_id, max: 0.01}
  - metric: mean
    column: amount
    where: status = 'paid'
    compare: {with: same_weekday, periods: 4, min: -20%, max: 30%}
  - {metric: sum, column: amount, learnt: {season: week, tolerance: 4, least: 14}}
  - metric: custom_sql
    sql: SELECT count(*) FROM {rows} WHERE amount < 0
    max: 0
  - {metric: in_set_rate, column: country, values: [NO, SE, 1, 2.5, true], min: 1}
  - {metric: in_set_rate, column: day, values: [2026-01-01], min: 1}
"""
)


def test_a_document_is_read_and_written_back() -> None:
    found = read_document(DOCUMENT)
    assert (found.table, found.partition_key, len(found.rules)) == ("sales.orders", "dt", 7)
    assert found.rules[0].severity is Severity.BLOCK
    assert [one.name for one in found.rules][:4] == [
        "enough_rows",
        "null_rate_customer_id",
        "mean_amount",
        "sum_amount",
    ]
    assert found.rules[5].measured.values == ("NO", "SE", "1", "2.5", "true")
    assert found.rules[6].values == ("2026-01-01",)
    assert read_document(write_document(found)) == found
    assert read_parsed(to_parsed(found)) == found


@pytest.mark.parametrize(
    ("rule", "place", "problem"),
    [
        ("{metric: row_count}", "min", "min, max, compare or learnt"),
        ("{metric: row_cuont, min: 1}", "metric", "row_cuont"),
        ("{metric: row_count, minimum: 1}", "", "unknown field `minimum`"),
        ("{metric: row_count, min: many}", "min", "Expected"),
        ("{metric: row_count, min: .nan}", "min", "finite"),
        ("{metric: row_count, min: 5, max: 4}", "min", "above max"),
        ("{metric: row_count, column: x, min: 1}", "column", "has no column"),
        ("{metric: mean, min: 1}", "column", "needs a column"),
        ("{metric: mean, columns: [a, b], min: 1}", "columns", "of one column"),
        ("{metric: uniqueness, columns: [a, a], min: 1}", "columns", "once"),
        ("{metric: mean, column: a, columns: [b], min: 1}", "column", "not both"),
        ("{metric: mean, column: a, q: 0.5, min: 1}", "q", "does not use it"),
        ("{metric: quantile, column: a, min: 1}", "q", "needs it"),
        ("{metric: quantile, column: a, q: 2, min: 1}", "q", "between 0 and 1"),
        ("{metric: range_rate, column: a, min: 1}", "low", "low, high or both"),
        ("{metric: regex_rate, column: a, pattern: '(', min: 1}", "pattern", "regular expression"),
        ("{metric: mean, column: a, where: 'b; drop', min: 1}", "where", "one condition"),
        ("{metric: mean, column: a, where: 'a=1) or (b=2', min: 1}", "where", "one condition"),
        ("{metric: mean, column: a, where: 'sum(b) > 1', min: 1}", "where", "no aggregate"),
        ("{metric: mean, column: a, where: 'b in (select 1)', min: 1}", "where", "no query"),
        ("{metric: mean, column: a, compare: {with: previous}}", "compare", "min, max or both"),
        ("{metric: mean, column: a, compare: {with: tomorrow, max: 1}}", "compare.with", "Invalid"),
        (
            "{metric: mean, column: a, compare: {with: previous, max: 10pc}}",
            "compare.max",
            "percentage",
        ),
        ("{metric: mean, column: a, max: 1, learnt: {}}", "compare", "one of"),
        ("{metric: mean, column: a, learnt: {tolerance: 0}}", "learnt.tolerance", "between"),
        ("{metric: custom_sql, sql: 'DELETE FROM x', max: 0}", "sql", "only SELECT"),
        ("{metric: referential_rate, column: a, other_table: x, other_column: b, min: 1}",
         "other_table", "db.table"),
        ("{metric: mean, column: a, name: '', severity: panic, max: 1}", "severity", "Invalid"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_by_rule_and_field(rule: str, place: str, problem: str) -> None:
    with pytest.raises(RuleViolation, match=re.escape(problem)) as caught:
        read_document(f"{HEAD}  - {rule}\n")
    assert caught.value.code in {"checks.rule", "checks.document"}
    assert caught.value.fields["field"] == place
    assert caught.value.fields["rule"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("rules: [", "no YAML at line"),
        ("[1, 2]", "no mapping"),
        ("table: orders\nrules: [{metric: row_count, min: 1}]", "db.table"),
        ("table: a.b\nrules: []", "between 1 and"),
        ("table: a.b\ntable: c.d\nrules: [{metric: row_count, min: 1}]", "comes twice"),
        ("table: &x a.b\nrules: *x", "alias"),
        ("table: !!python/name:os.system a\nrules: []", "no YAML"),
        (HEAD + "  - {metric: row_count, min: 1}\n  - {metric: row_count, max: 9}", "own"),
        ("a: " + "x" * 300_000, "256 KiB"),
    ],
)
def test_a_document_that_cannot_be_read_says_why(text: str, problem: str) -> None:
    with pytest.raises(RuleViolation, match=re.escape(problem)):
        read_document(text)


@given(st.text(max_size=200))
def test_no_text_is_more_than_refused(text: str) -> None:
    with pytest.raises(RuleViolation):
        read_document(text)


def test_equal_metrics_are_measured_once_and_in_one_pass() -> None:
    rules = read_document(
        HEAD
        + """
  - {name: a, metric: mean, column: x, min: 1}
  - {name: b, metric: mean, column: x, compare: {with: previous, max: 10%}}
  - {name: c, metric: sum, column: x, min: 1}
  - {name: d, metric: uniqueness, column: x, min: 1}
  - {name: e, metric: duplicate_rows, column: x, max: 0}
  - {name: f, metric: custom_sql, sql: "SELECT 1", max: 1}
  - {name: g, metric: schema, types: {x: int}}
"""
    ).rules
    plan = plan_metrics(metrics_of(rules))
    assert [one.label for one in plan.one_pass] == ["mean(x)", "sum(x)"]
    assert [len(one.metrics) for one in plan.grouped] == [2]
    assert (len(plan.single), len(plan.schema), plan.n_passes) == (1, 1, 3)
    assert [bool(reason_separate(one)) for one in metrics_of(rules)] == [
        False, False, True, True, True, False,
    ]  # fmt: skip


def test_keys_tell_metrics_apart_and_stay_short() -> None:
    metrics = [
        Metric(MetricKind.REGEX_RATE, ("x",), pattern="a"),
        Metric(MetricKind.REGEX_RATE, ("x",), pattern="b"),
        Metric(MetricKind.MEAN, ("x",), where="y = '" + "1" * 300 + "'"),
        Metric(MetricKind.MEAN, ("x",), where="y = '" + "1" * 301 + "'"),
        Metric(MetricKind.MEAN, ("x",)),
    ]
    keys = {one.key for one in metrics}
    assert len(keys) == len(metrics)
    assert max(map(len, keys)) <= LONGEST_KEY


def test_differences_of_a_schema_are_named() -> None:
    metric = Metric(MetricKind.SCHEMA, types={"a": "integer", "b": "", "c": "string"}, exact=True)
    columns = {"a": "int", "b": "date", "c": "int", "d": "int"}
    assert schema_differences(metric, columns) == ("c is int, not string", "d is not expected")


def test_starting_rules_are_rules() -> None:
    columns = {"dt": "string", "order_id": "bigint", "amount": "decimal(10,2)", "city": "string"}
    rules = starting_rules(columns, partition_key="dt")
    complete(CheckSet("sales.orders", rules, "dt"))
    assert [one.name for one in rules] == [
        "row_count",
        "null_rate_order_id",
        "null_rate_amount",
        "mean_amount",
        "null_rate_city",
    ]


def test_a_rule_with_bounds_needs_no_history() -> None:
    assert not Rule(MetricKind.ROW_COUNT, min=1).needs_history
