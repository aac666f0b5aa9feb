"""Limits calls to a lake's metastore or a front end, and records what the last call showed."""

from datetime import datetime

from django.db import transaction

from portal.reliability.breaker import Breaker, BreakerPolicy, failed, started, succeeded
from portal.reliability.token_bucket import refill, take
from refresh.models import ClusterFrontEnd, MetastoreLoad

POLICY = BreakerPolicy()
CALLS_A_SECOND = 200.0
MOST_CALLS = 2_000.0


def metastore_may(lake: str, *, now: datetime) -> bool:
    """Whether the lake's metastore may be asked: its breaker is closed, or this is the trial."""
    return _load(lake, now=now).breaker.allows(now)


def metastore_pays(lake: str, calls: int, *, now: datetime) -> bool:
    """Take a statement's calls from the bucket; False if it must be refilled first.

    Also takes the one trial of a half open breaker, so call it just before the statement.
    """
    with transaction.atomic():
        row = _locked(lake, now=now)
        if not row.breaker.allows(now):
            return False
        bucket = refill(row.bucket, now=now, per_second=CALLS_A_SECOND, most=MOST_CALLS)
        left = take(bucket, calls)
        if left is None:
            return False
        row.calls, row.calls_at = left.tokens, left.at
        _keep(row, started(row.breaker, now=now, policy=POLICY))
        row.save()
    return True


def metastore_charged(lake: str, *, now: datetime) -> bool:
    """Charge one call of somebody who waits for its answer; False if the metastore rests.

    Such a call skips the bucket's limit, because a very large table can empty it for minutes; its
    cost is charged to the next statement. Takes the one trial of a half open breaker.
    """
    with transaction.atomic():
        row = _locked(lake, now=now)
        if not row.breaker.allows(now):
            return False
        bucket = refill(row.bucket, now=now, per_second=CALLS_A_SECOND, most=MOST_CALLS)
        row.calls, row.calls_at = bucket.tokens - 1, bucket.at
        _keep(row, started(row.breaker, now=now, policy=POLICY))
        row.save()
    return True


def metastore_answered(lake: str, *, is_well: bool, now: datetime) -> None:
    """Note what a call to the metastore, or a front end's word of one, has shown."""
    with transaction.atomic():
        row = _locked(lake, now=now)
        _keep(row, _after(row.breaker, is_well=is_well, now=now))
        row.save()


def fe_began(fe: ClusterFrontEnd, *, now: datetime) -> None:
    """Note that a statement goes to a front end; half open, this is the one trial."""
    if fe.open_until is not None:
        ClusterFrontEnd.objects.filter(pk=fe.pk, open_until=fe.open_until).update(
            trial_until=started(fe.breaker, now=now, policy=POLICY).trial_until
        )


def fe_answered(fe: ClusterFrontEnd, *, is_well: bool, now: datetime) -> None:
    """Note what a statement has shown of a front end."""
    with transaction.atomic():
        row = ClusterFrontEnd.objects.select_for_update().filter(pk=fe.pk).first()
        if row is None:
            return
        _keep(row, _after(row.breaker, is_well=is_well, now=now))
        row.save(update_fields=["n_failed", "n_opened", "open_until", "trial_until"])


def _after(breaker: Breaker, *, is_well: bool, now: datetime) -> Breaker:
    return succeeded(breaker, now=now) if is_well else failed(breaker, now=now, policy=POLICY)


def _keep(row: MetastoreLoad | ClusterFrontEnd, breaker: Breaker) -> None:
    row.n_failed, row.n_opened = breaker.n_failed, breaker.n_opened
    row.open_until, row.trial_until = breaker.open_until, breaker.trial_until


def _load(lake: str, *, now: datetime) -> MetastoreLoad:
    defaults = {"calls": MOST_CALLS, "calls_at": now}
    return MetastoreLoad.objects.get_or_create(lake=lake, defaults=defaults)[0]


def _locked(lake: str, *, now: datetime) -> MetastoreLoad:
    _load(lake, now=now)
    return MetastoreLoad.objects.select_for_update().get(lake=lake)
