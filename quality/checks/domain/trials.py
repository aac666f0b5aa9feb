"""Judges rules on past windows, as if they had been there then: for drafts and for trends.

A window is judged by what was measured of it and of the windows before it, never by later ones.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from quality.checks.domain.judge import Outcome, Verdict, judge
from quality.checks.domain.rules import Rule
from quality.checks.domain.windows import Reading, dated

DAYS = 90
MOST_WINDOWS = 200
SHOWN = 10
_MOST_JUDGED = 1_500
"""Windows of all rules with a history together; each costs a read of that history."""
_LEAST_WINDOWS = 7


class TriedWindow(msgspec.Struct, frozen=True):
    """What a rule says of one past window."""

    label: str
    """The window; of a table without windows the day of the measurement."""
    measured_at: datetime
    verdict: Verdict


class Tried(msgspec.Struct, frozen=True):
    """What a rule says of the past windows, the oldest first; none: nothing was measured."""

    rule: Rule
    windows: tuple[TriedWindow, ...]

    @property
    def fired(self) -> tuple[TriedWindow, ...]:
        """The windows on which it fails."""
        return tuple(one for one in self.windows if one.verdict.outcome is Outcome.FAILED)

    @property
    def newest_fired(self) -> tuple[TriedWindow, ...]:
        """The last of them, the newest first, as many as people read."""
        return self.fired[: -SHOWN - 1 : -1]

    @property
    def n_more(self) -> int:
        """On how many more it fails."""
        return max(len(self.fired) - SHOWN, 0)

    @property
    def last_unknown(self) -> str:
        """Why it could not be judged last; empty: it always could."""
        texts = [one.verdict.text for one in self.windows if one.verdict.outcome is Outcome.UNKNOWN]
        return texts[-1] if texts else ""

    @property
    def n_windows(self) -> int:
        """On how many windows it was judged."""
        return len(self.windows)

    @property
    def n_unknown(self) -> int:
        """On how many windows it cannot be judged."""
        return sum(one.verdict.outcome is Outcome.UNKNOWN for one in self.windows)


def try_rules(
    rules: Sequence[Rule],
    readings: Mapping[str, Sequence[Reading]],
    *,
    now: datetime,
    days: int = DAYS,
) -> tuple[Tried, ...]:
    """Judge rules on the windows of the last `days`; `readings` has those of each metric's key.

    Of many rules that look at their history, or of hours, fewer windows are judged, the newest.
    """
    n_histories = sum(one.needs_history for one in rules)
    fewer = max(_MOST_JUDGED // n_histories, _LEAST_WINDOWS) if n_histories else MOST_WINDOWS
    return tuple(
        _tried(
            one,
            readings.get(one.measured.key, ()),
            since=now - timedelta(days=days),
            most=min(fewer, MOST_WINDOWS) if one.needs_history else MOST_WINDOWS,
        )
        for one in rules
    )


def unmeasured(rules: Sequence[Rule], readings: Mapping[str, Sequence[Reading]]) -> tuple[str, ...]:
    """Return the labels of metrics of which nothing was measured, each once."""
    labels = {one.measured.key: one.measured.label for one in rules}
    return tuple(label for key, label in labels.items() if not readings.get(key))


def _tried(rule: Rule, readings: Sequence[Reading], *, since: datetime, most: int) -> Tried:
    newest: dict[datetime, Reading] = {}
    undated: dict[str, Reading] = {}
    for one in sorted(readings, key=lambda one: one.measured_at):
        place = dated(one)
        if place is None:
            undated[one.window] = one
        elif place.at >= since:
            newest[place.at] = one
    # A partition that is no time has only the time at which it was measured.
    placed = [*newest.items(), *((one.measured_at, one) for one in undated.values())]
    recent = sorted(
        ((at, one) for at, one in placed if at >= since), key=lambda both: (both[0], both[1].window)
    )
    history = readings if rule.needs_history else ()
    return Tried(
        rule,
        tuple(
            TriedWindow(_label(one), one.measured_at, judge(rule, one, history))
            for _, one in recent[-most:]
        ),
    )


def _label(reading: Reading) -> str:
    return reading.window or f"{reading.measured_at.astimezone(UTC):%Y-%m-%d}"
