"""Changes how a cluster is reached when its addresses or its login have changed.

Its queue, what is known of its tables, and their history stay. Front ends that are not listed at
the new addresses are forgotten, so that nobody asks them any more who the front ends are.
"""

from dataclasses import replace
from datetime import datetime

from django.db import transaction

from portal.lake.errors import RuleViolation, StaleState
from refresh.clusters.services.clusters import Actor, check_lake_staff, locked, record
from refresh.clusters.services.fe_client import PATIENT
from refresh.clusters.services.trial import ClusterParams, TrialReport, cluster_retest
from refresh.core.connectors.front_end import Budget
from refresh.models import Cluster


def cluster_edit(
    cluster: Cluster,
    wish: ClusterParams,
    *,
    version: int,
    by: Actor,
    now: datetime,
    budget: Budget = PATIENT,
) -> None:
    """Try another way of reaching a cluster out and keep it; what it is already is no change.

    The worker reads it then. `version` is that of the cluster as it was seen by whoever changes it.

    Raises:
        NotAllowed: for others than admins and operators; an address that they may not name.
        RuleViolation: an address that is none, or a trial that failed; nothing was changed.
        StaleState: `cluster.changed`, somebody else was first.
    """
    check_lake_staff(by)
    wish = replace(wish, addresses=tuple(map(str, wish.places())))
    _check_version(cluster, version)
    if wish == ClusterParams.of(cluster):
        return
    report = cluster_retest(cluster, wish, reach=by.reach, budget=budget)
    if not report.is_good:
        raise RuleViolation(
            "cluster.trial",
            f"{cluster.name} was not changed. {' '.join(report.problems)}",
            name=cluster.name,
        )
    with transaction.atomic():
        row = locked(cluster)
        _check_version(row, version)
        before = ClusterParams.of(row)
        row.addresses, row.user = list(wish.addresses), wish.user
        row.password_file, row.version = wish.password_file, version + 1
        row.read_requested_at = now
        row.save(
            update_fields=["addresses", "user", "password_file", "version", "read_requested_at"]
        )
        _forget_others(row, report)
        data = {"before": _told(before), "after": _told(wish)}
        record("refresh.cluster_edited", row, by=by, data=data, now=now)
    cluster.refresh_from_db()


def _forget_others(row: Cluster, report: TrialReport) -> None:
    listed = {(one.name, one.place) for one in report.reached}
    for fe in row.front_ends.all():
        if (fe.name, fe.place) not in listed:
            fe.delete()


def _check_version(cluster: Cluster, version: int) -> None:
    if cluster.version != version:
        raise StaleState(
            "cluster.changed",
            f"Somebody changed how {cluster.name} is reached meanwhile. Load its page again and "
            "see whether your change is still wanted.",
            name=cluster.name,
            version=cluster.version,
        )


def _told(wish: ClusterParams) -> dict[str, object]:
    return {
        "addresses": wish.addresses,
        "user": wish.user,
        "password_file": wish.password_file,
    }
