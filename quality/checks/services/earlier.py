"""Says what is known of windows at the last commit, so that only newer rows need to be read."""

from collections.abc import Sequence

import msgspec
from django.db.models import Q

from quality.checks.domain.messages import Earlier
from quality.checks.domain.states import State
from quality.models import CheckSet


def earlier_of(row: CheckSet, windows: Sequence[str]) -> Earlier | None:
    """Return the states of windows at the newest commit that any of them was measured at.

    Windows that were measured at another commit are not among them, and are read whole. None:
    nothing is known of a commit, as of formats without commits.
    """
    known = row.measurements.filter(window__in=windows, state__isnull=False).exclude(commit="")
    newest = known.order_by("-measured_at", "-pk").first()
    if newest is None:
        return None
    # A table without windows has a measurement for each day: only the last one is of it as it is.
    same = known.filter(Q(window__gt="") | Q(measured_at=newest.measured_at), commit=newest.commit)
    states: dict[str, dict[str, State]] = {}
    for one in same:
        states.setdefault(one.window, {})[one.metric] = msgspec.convert(one.state, State)
    return Earlier(newest.commit, states)
