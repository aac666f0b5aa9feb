"""Sparklines of trends, with words for a reader without the picture."""

from collections.abc import Sequence
from dataclasses import dataclass

_WIDTH, _HEIGHT = 120.0, 32.0


@dataclass(frozen=True)
class Spark:
    """A trend as points of a small line, and the same as words."""

    line: str
    area: str
    words: str


def spark_of(
    trend: Sequence[tuple[str, float]], *, low: float = 0.0, high: float | None = None
) -> Spark | None:
    """Draw labelled values between `low` and `high` (else their own greatest); needs two."""
    if len(trend) < 2:
        return None
    values = [value for _, value in trend]
    low, high = min(low, *values), max(values) if high is None else max(high, *values)
    span = (high - low) or 1.0
    step = _WIDTH / (len(values) - 1)
    points = [
        (place * step, _HEIGHT - (value - low) / span * _HEIGHT)
        for place, value in enumerate(values)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    (first, was), (last, now) = trend[0], trend[-1]
    words = f"from {was:,.0f} on {first} to {now:,.0f} on {last}"
    return Spark(line, f"0,{_HEIGHT:.0f} {line} {_WIDTH:.0f},{_HEIGHT:.0f}", words)
