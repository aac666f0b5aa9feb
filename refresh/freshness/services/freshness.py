"""Evaluates tables on every front end. Writes the domain's decision where pages read it.

Judging twice writes the same: it follows from what changed and what was completed.
"""

from collections.abc import Mapping, Sequence

from django.db import transaction

from portal.upserts import conflict_key
from refresh.clusters.domain.frontends import FeState
from refresh.freshness.domain.freshness import Danger, Freshness, Standing, standing
from refresh.freshness.domain.pending_refresh import pending_for
from refresh.freshness.domain.visibility import FeRecord
from refresh.freshness.selectors.records import changes_of_all, records_of_all
from refresh.models import Cluster, ClusterFrontEnd, RefreshTarget, TargetFrontEnd, WatchedTable

_CHUNK = 200
# So few that whoever notes a change of one of them does not wait for long.
_FEW = 50
_ON_FE = ("needs_refresh", "freshness", "danger", "reason", "stale_since")
_ON_TARGET = ("freshness", "danger", "reason", "stale_since", "rank", "refreshed_at")


def judge(targets: Sequence[RefreshTarget]) -> None:
    """Judge tables and write how they stand, on each front end and at their worst.

    The given objects are brought up to date too. What is noted meanwhile is judged after this, so
    a table that just changed is never shown as fresh.
    """
    for start in range(0, len(targets), _CHUNK):
        _judge(targets[start : start + _CHUNK])


def judge_cluster(cluster: Cluster, states: Mapping[str, str]) -> None:
    """Judge all tables of a cluster, a few at a time: one of its front ends came or went.

    `states` are those that were seen before; they are kept once all tables were judged by them.
    """
    last = 0
    while rows := list(
        RefreshTarget.objects.filter(cluster=cluster, pk__gt=last)
        .select_related("cluster")
        .order_by("pk")[:_FEW]
    ):
        last = rows[-1].pk
        judge(rows)
    Cluster.objects.filter(pk=cluster.pk).update(judged_states=states)


@transaction.atomic
def _judge(targets: Sequence[RefreshTarget]) -> None:
    # Whoever notes a change holds the same rows.
    keys = sorted({target.watched_id for target in targets})
    rows = WatchedTable.objects.select_for_update().filter(pk__in=keys).order_by("pk")
    watched = {row.pk: row for row in rows}
    targets = [target for target in targets if target.watched_id in watched]
    changes = changes_of_all(watched.values())
    records = records_of_all(targets)
    on_fes: list[TargetFrontEnd] = []
    for target in targets:
        judged = [
            (fe, record, standing(changes[target.watched_id], record))
            for fe, record in records[target.pk]
        ]
        on_fes += [
            _on_fe(
                target,
                fe,
                found,
                needs_refresh=bool(pending_for(record, changes[target.watched_id])),
            )
            for fe, record, found in judged
        ]
        _sum_up(target, judged)
        target.reason = _with_reason(watched[target.watched_id], target.reason)
    _write(on_fes)
    RefreshTarget.objects.bulk_update(targets, _ON_TARGET)


def _on_fe(
    target: RefreshTarget, fe: ClusterFrontEnd, found: Standing, *, needs_refresh: bool
) -> TargetFrontEnd:
    return TargetFrontEnd(
        target=target,
        fe=fe,
        needs_refresh=needs_refresh,
        freshness=found.freshness,
        danger=found.danger,
        reason=found.reason,
        stale_since=found.stale_since,
    )


def _sum_up(
    target: RefreshTarget, judged: Sequence[tuple[ClusterFrontEnd, FeRecord, Standing]]
) -> None:
    """Take the worst of those that may still answer people; a dead one answers nobody."""
    living = [one for one in judged if one[1].state is not FeState.DEAD]
    name, worst = "", _NOBODY
    if living:
        fe, _, worst = min(living, key=lambda one: one[2].rank)
        name = f"{fe.place}: "
    target.freshness, target.danger, target.rank = worst.freshness, worst.danger, worst.rank
    target.reason = name + worst.reason
    since = [found.stale_since for _, _, found in living if found.stale_since is not None]
    target.stale_since = min(since, default=None)
    alive = [one[1:] for one in living if one[1].state is FeState.ALIVE]
    behind = (Freshness.STALE, Freshness.DIVERGED)
    if alive and all(found.freshness not in behind for _, found in alive):
        ended = [one.ended_at for record, _ in alive for one in record.done]
        target.refreshed_at = max(ended, default=target.refreshed_at)


_NOBODY = Standing(
    Freshness.UNKNOWN, Danger.UNKNOWN, "None of the cluster's front ends is known to live."
)


def _with_reason(watched: WatchedTable, reason: str) -> str:
    if watched.is_opted_out:
        who = f" by {watched.opted_out_by}" if watched.opted_out_by else ""
        said = f" ({watched.opted_out_reason})" if watched.opted_out_reason else ""
        return f"Opted out{who}{said}, so nobody refreshes it. {reason}"
    if watched.is_deleted:
        return f"The metastore has it no more. {reason}"
    return reason


def _write(rows: list[TargetFrontEnd]) -> None:
    """Write the judgements only: what was done there is the worker's to write."""
    TargetFrontEnd.objects.bulk_create(
        rows,
        batch_size=500,
        update_conflicts=True,
        unique_fields=conflict_key("target", "fe"),
        update_fields=_ON_FE,
    )
