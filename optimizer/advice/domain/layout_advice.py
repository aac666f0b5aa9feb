"""Decides from a what-if whether another layout pays, and says why or why not."""

from collections.abc import Sequence
from dataclasses import dataclass

from optimizer.iceberg.rewrite.domain.layouts import Layout

LEAST_SCANS = 20
"""Fewer say more of one person's afternoon than of a table."""
LEAST_SAVED = 0.10
"""Of the bytes that scans plan; less is within what a sample is wrong by."""
MOST_DAYS = 30
"""In which the rewrite has to be paid back by what scans do not read."""
READ_AND_WRITTEN = 2
LOW, MEDIUM, HIGH = "low", "medium", "high"


@dataclass(frozen=True, slots=True)
class Option:
    """A layout by name, and the share of the table that the queries read in it."""

    layout: Layout
    share: float


@dataclass(frozen=True, slots=True)
class Traffic:
    """What the recorded scans are: how many, on how many days, and their planned bytes a day."""

    n_scans: int
    n_days: int
    bytes_a_day: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """A layout that pays. `expected` is what is planned then, of one byte planned now."""

    layout: Layout
    expected: float
    reason: str
    runner_up: str


@dataclass(frozen=True, slots=True)
class NoProposal:
    """Why nothing is proposed."""

    reason: str


def decide_layout(
    now: float,
    options: Sequence[Option],
    traffic: Traffic,
    *,
    current: Layout,
    rewrite_bytes: int,
    n_files: int,
) -> Proposal | NoProposal:
    """Judge layouts, the best first, against `now`, the share read as the rows lie today.

    `rewrite_bytes` is what it takes once; `n_files` is how many files the sampled partition has
    after it.
    """
    if traffic.n_scans < LEAST_SCANS:
        return NoProposal(f"{traffic.n_scans} scans were recorded; {LEAST_SCANS} are needed.")
    if n_files < 2:
        return NoProposal("Compacted, its largest partition is one file, which every query opens.")
    if not options or now <= 0:
        return NoProposal("No filter of the recorded scans is one that an order of rows helps.")
    best = options[0]
    expected = best.share / now
    if best.layout == current:
        return NoProposal(f"The policy has the best layout already, {best.layout}.")
    if expected > 1 - LEAST_SAVED:
        return NoProposal(
            f"The best layout, {best.layout}, would leave out {percent(1 - expected)} of what "
            f"scans plan; at least {percent(LEAST_SAVED)} is asked."
        )
    saved = traffic.bytes_a_day * (1 - expected)
    days = READ_AND_WRITTEN * rewrite_bytes / saved if saved else float("inf")
    if days > MOST_DAYS:
        return NoProposal(
            f"{best.layout} would leave out {percent(1 - expected)} of what scans plan, and the "
            f"rewrite would take more than {MOST_DAYS} days to be worth it."
        )
    return Proposal(best.layout, expected, _reason(best, now, days), _runner_up(options))


def confidence(traffic: Traffic) -> str:
    """Return high, medium or low: how much recorded traffic an advice stands on."""
    if traffic.n_scans >= 500 and traffic.n_days >= 7:
        return HIGH
    return MEDIUM if traffic.n_scans >= 100 and traffic.n_days >= 2 else LOW


def has_paid(ratio: float | None, n_after: int) -> bool | None:
    """Whether an applied layout pays: `ratio` is planned since, of one planned before.

    None while fewer scans were seen than an advice has to stand on.
    """
    if ratio is None or n_after < LEAST_SCANS:
        return None
    return ratio <= 1 - LEAST_SAVED


def _reason(best: Option, now: float, days: float) -> str:
    repaid = "within a day" if days < 1 else f"in {days:.0f} day{'' if round(days) == 1 else 's'}"
    return (
        f"Queries like the recorded ones open {percent(now)} of a partition's files as the rows "
        f"lie now, and {percent(best.share)} in {best.layout}. Scans pay the rewrite back "
        f"{repaid}."
    )


def _runner_up(options: Sequence[Option]) -> str:
    best = options[0]
    others = [
        one for one in options[1:] if one.layout and one.layout.columns != best.layout.columns
    ]
    others += [one for one in options[1:] if one.layout and one not in others]
    if not others:
        return ""
    return f"{others[0].layout} would open {percent(others[0].share)}"


def percent(share: float) -> str:
    """Return a share in per cent, with a digit more where it is small."""
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"
