"""Judges a trial from its replayed queries, and sums it up by shape for people."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from optimizer.advice.domain.filters import Filter
from optimizer.advice.domain.layout_advice import LEAST_SAVED
from optimizer.advice.domain.paired import Replayed, judge


@dataclass(frozen=True, slots=True)
class ReplayedShape:
    """Scans that filtered in one way, and the queries that stood for them."""

    filters: tuple[Filter, ...]
    n_scans: int
    queries: tuple[Replayed, ...]


def trial_verdict(
    shapes: Sequence[ReplayedShape], *, least_saved: float = LEAST_SAVED
) -> dict[str, Any]:
    """Return the verdict as JSON takes it: an end of the interval that is open is None."""
    found = judge([one for shape in shapes for one in shape.queries], least_saved=least_saved)
    said = asdict(found)
    said["decision"] = found.decision.value
    for name in ("low", "high"):
        said[name] = said[name] if isfinite(said[name]) else None
    return said


def shape_row(shape: ReplayedShape) -> dict[str, Any]:
    """Return what one scan of the shape plans in the sample, before and after, on average."""
    weight = sum(one.weight for one in shape.queries)
    before = sum(one.weight * one.before for one in shape.queries)
    after = sum(one.weight * one.after for one in shape.queries)
    return {
        "filters": [list(one) for one in shape.filters],
        "n_scans": shape.n_scans,
        "n_queries": len(shape.queries),
        "before": round(before / weight) if weight else 0,
        "after": round(after / weight) if weight else 0,
    }
