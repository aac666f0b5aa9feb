"""Proposes the rules that a table without any starts with, from its columns alone.

All are learnt or hold of any table, so that they need no knowledge of the data; each is an alarm.
"""

from collections.abc import Mapping

from portal.lake.errors import RuleViolation
from quality.checks.domain.metrics import MetricKind
from quality.checks.domain.rules import Learnt, Rule, Season, check_rule

MOST_COLUMNS = 30
_HUDI = "_hoodie_"
"""Columns that Hudi adds."""
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
LEARNT = Learnt(season=Season.WEEK)
"""Bounds of a metric that follows the days of the week."""
OF_RATES = Learnt(season=Season.NONE, floor=0.005)
"""Bounds of a share: half a percent more or less is nothing to wake somebody for."""


def starting_rules(columns: Mapping[str, str], *, partition_key: str = "") -> tuple[Rule, ...]:
    """Return rules for a table with these columns and their types as Spark writes them."""
    rules = [Rule(MetricKind.ROW_COUNT, name="row_count", learnt=LEARNT)]
    for name, of in list(columns.items())[:MOST_COLUMNS]:
        if name == partition_key or name.startswith(_HUDI) or not _fits(name):
            continue
        rules.append(_rule(MetricKind.NULL_RATE, name, OF_RATES))
        if of.startswith(_NUMBERS) and not _is_key(name):
            rules.append(_rule(MetricKind.MEAN, name, LEARNT))
    return tuple(rules)


def _rule(metric: MetricKind, column: str, learnt: Learnt) -> Rule:
    return Rule(metric, name=f"{metric.value}_{column}", column=column, learnt=learnt)


def _fits(name: str) -> bool:
    """Return whether a rule can be named after a column; others are left to people."""
    try:
        check_rule(_rule(MetricKind.NULL_RATE, name, OF_RATES))
    except RuleViolation:
        return False
    return True


def _is_key(name: str) -> bool:
    """Return whether a number names something, so that its mean means nothing."""
    return name == "id" or name.endswith(("_id", "_key", "_code", "_no"))
