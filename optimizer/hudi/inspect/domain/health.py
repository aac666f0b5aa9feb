"""Scores the health of a Hudi table from 0 to 100, with the points that each part costs.

Points are counted as for all tables (`core.domain.health`): each part takes its share of what the
parts before it left. How much a part can take, and when it takes all of it:

- timeline (100 %): it is broken, so nothing else can be told.
- damage (70 %): rows are lost, doubled or hidden, however few.
- stale view (40 %): it lies two and a half times as far behind as is allowed; half is free.
- stuck instants (30 %): there are three of them.
- pending plans (30 %): two and a half times as many as are allowed; half are free.
- logs (30 %): half of what a reader of the table must merge lies in logs.
- small files (20 %): nearly every base file is small, one a partition aside.
"""

from collections import Counter
from datetime import datetime
from enum import StrEnum

from optimizer.core.domain.health import WHOLE, Deduction, Health, taken
from optimizer.core.domain.sizes import size_words
from optimizer.hudi.inspect.domain.damage import damage
from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.hudi.inspect.domain.findings import span_words
from optimizer.hudi.inspect.domain.staleness import staleness_of
from optimizer.hudi.inspect.domain.timeline import PLANNED, pending, stuck, unfit
from optimizer.policies.domain.hudi_policy import HudiPolicy
from portal.lake.counts import count_words


class Part(StrEnum):
    """What can cost points, in the order in which it is judged."""

    TIMELINE = "timeline"
    DAMAGE = "damage"
    STALE = "stale view"
    STUCK = "stuck instants"
    PLANS = "pending plans"
    LOGS = "logs"
    SMALL = "small files"


_TAKES = {
    Part.TIMELINE: 1.0,
    Part.DAMAGE: 0.7,
    Part.STALE: 0.4,
    Part.STUCK: 0.3,
    Part.PLANS: 0.3,
    Part.LOGS: 0.3,
    Part.SMALL: 0.2,
}
_FREE, _FULL = 0.5, 2.5
_STUCK = 3
_LOG_SHARE = 0.5
_Judged = tuple[float, str]


def health_of(look: HudiInspection, policy: HudiPolicy, now: datetime) -> Health | None:
    """Judge a table; None where its version is not known and nobody can tell."""
    left_alone = unfit(look)
    if left_alone is not None:
        if left_alone.code == "unsupported":
            return None
        return _told({Part.TIMELINE: (1.0, left_alone.reason)})
    if not look.slices and not look.plans:
        return Health(note="The table has no files: there is nothing to improve.")
    return _told(
        {
            Part.DAMAGE: _damage(look),
            Part.STALE: _stale(look, policy, now),
            Part.STUCK: _stuck(look, policy, now),
            Part.PLANS: _plans(look, policy),
            Part.LOGS: _logs(look),
            Part.SMALL: _small(look, policy),
        }
    )


def _told(judged: dict[Part, _Judged]) -> Health:
    lost = taken({part: one[0] for part, one in judged.items()}, _TAKES, of=WHOLE)
    return Health(
        tuple(Deduction(part, lost[part], judged[part][1]) for part in judged if lost[part])
    )


def _damage(look: HudiInspection) -> _Judged:
    found = list(damage(look))
    return float(bool(found)), " ".join(one.words for one in found)


def _stale(look: HudiInspection, policy: HudiPolicy, now: datetime) -> _Judged:
    stale = staleness_of(look)
    if stale is None:
        return 0.0, ""
    behind = stale.behind(now)
    words = (
        f"The read-optimized view is {span_words(behind)} and "
        f"{count_words(len(stale.commits), 'delta commit')} behind; "
        f"{span_words(policy.stale_after)} are allowed."
    )
    return _over(behind / policy.stale_after), words


def _stuck(look: HudiInspection, policy: HudiPolicy, now: datetime) -> _Judged:
    found = stuck(look, patience=policy.patience, now=now)
    names = ", ".join(f"{one.instant.action} {one.instant.instant}" for one in found[:_STUCK])
    return len(
        found
    ) / _STUCK, f"{count_words(len(found), 'instant')} began and never ended: {names}."


def _plans(look: HudiInspection, policy: HudiPolicy) -> _Judged:
    n = len(pending(look, PLANNED))
    words = f"{count_words(n, 'plan')} are pending; {policy.max_pending} are allowed."
    return _over(n / policy.max_pending), words


def _logs(look: HudiInspection) -> _Judged:
    logs = sum(one.log_bytes for one in look.slices)
    whole = logs + sum(one.base_bytes or 0 for one in look.slices)
    words = f"{size_words(logs)} of {size_words(whole)} are in logs, which every reader must merge."
    return (logs / whole / _LOG_SHARE if whole else 0.0), words


def _small(look: HudiInspection, policy: HudiPolicy) -> _Judged:
    sizes = [(one.group.partition, one.base_bytes) for one in look.slices if one.base_bytes]
    small = Counter(partition for partition, size in sizes if size < policy.small_bytes)
    fewer = sum(small.values()) - len(small)
    words = (
        f"{sum(small.values()):,} of {count_words(len(sizes), 'base file')} are below "
        f"{size_words(policy.small_bytes)}."
    )
    return (fewer / len(sizes) if sizes else 0.0), words


def _over(times: float) -> float:
    """Return how bad a multiple of what is allowed is, from 0 to 1."""
    return min(1.0, max(0.0, (times - _FREE) / (_FULL - _FREE)))
