"""Draws how a rule's metric went, in the bounds that the rule as it is now had each time."""

from portal.ui.charts.bands import BandPoint, band_chart
from portal.ui.charts.figures import Axes, Chart
from quality.checks.domain.judge import Outcome
from quality.checks.domain.metrics import RATES, MetricKind
from quality.checks.domain.trials import Tried

_WORDS = {Outcome.PASSED: "passed", Outcome.FAILED: "failed", Outcome.UNKNOWN: "not judged"}


def trend_chart(tried: Tried, name: str = "trend") -> Chart | None:
    """Return a rule's trend; None: nothing was measured. Shares are drawn in percent."""
    if not tried.windows:
        return None
    kind = tried.rule.metric
    per = 100.0 if kind in RATES else 1.0
    unit = " in %" if kind in RATES else " in seconds" if kind is MetricKind.FRESHNESS else ""
    points = [
        BandPoint(
            one.label,
            _times(one.verdict.value, per),
            _times(one.verdict.low, per),
            _times(one.verdict.high, per),
            is_bad=one.verdict.outcome is Outcome.FAILED,
            note=_WORDS[one.verdict.outcome],
        )
        for one in tried.windows
    ]
    axes = Axes("Window", f"{kind.value}{unit}")
    return band_chart(name, title=f"{tried.rule.name}: {tried.rule.measured.label}{unit}",
                      points=points, axes=axes)  # fmt: skip


def _times(value: float | None, per: float) -> float | None:
    return None if value is None else value * per
