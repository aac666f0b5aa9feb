"""Plans how the metrics of a table are measured: what one pass gives, and what needs its own."""

from collections.abc import Iterable

import msgspec

from quality.checks.domain.metrics import COMPARED, GROUPED, SEPARATE, Metric, MetricKind
from quality.checks.domain.rules import Rule


class GroupPass(msgspec.Struct, frozen=True):
    """Metrics that one grouping by the same columns gives."""

    columns: tuple[str, ...]
    where: str
    metrics: tuple[Metric, ...]


class MetricPlan(msgspec.Struct, frozen=True):
    """How the distinct metrics of some rules are measured."""

    one_pass: tuple[Metric, ...] = ()
    """All of one aggregate over the table's rows."""
    grouped: tuple[GroupPass, ...] = ()
    single: tuple[Metric, ...] = ()
    """Each needs a query of its own."""
    schema: tuple[Metric, ...] = ()
    """These read no rows."""

    @property
    def n_passes(self) -> int:
        """How often the table's rows are read."""
        return bool(self.one_pass) + len(self.grouped) + len(self.single)


def metrics_of(rules: Iterable[Rule]) -> tuple[Metric, ...]:
    """Return the distinct metrics that a table is read for, in the rules' order."""
    distinct = {one.measured.key: one.measured for one in rules}
    return tuple(one for one in distinct.values() if one.kind is not COMPARED)


def plan_metrics(metrics: Iterable[Metric]) -> MetricPlan:
    """Sort distinct metrics by how they are measured."""
    one_pass, single, schema = [], [], []
    grouped: dict[tuple[tuple[str, ...], str], list[Metric]] = {}
    for one in metrics:
        if one.kind is MetricKind.SCHEMA:
            schema.append(one)
        elif one.kind in GROUPED:
            grouped.setdefault((one.columns, one.where), []).append(one)
        elif one.kind in SEPARATE:
            single.append(one)
        else:
            one_pass.append(one)
    return MetricPlan(
        tuple(one_pass),
        tuple(GroupPass(*place, tuple(ones)) for place, ones in grouped.items()),
        tuple(single),
        tuple(schema),
    )


def reason_separate(metric: Metric) -> str:
    """Return why a metric needs a pass of its own; empty: it does not."""
    if metric.kind in GROUPED:
        return f"Rows are grouped by {', '.join(metric.columns)}."
    if metric.kind is MetricKind.REFERENTIAL_RATE:
        return f"Rows are joined with {metric.other_table}."
    if metric.kind is MetricKind.ROW_COUNT_DIFFERENCE:
        return f"Rows of {metric.other_table} are counted as well."
    return "The query reads for itself." if metric.kind is MetricKind.CUSTOM_SQL else ""
