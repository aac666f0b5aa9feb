"""Adds, pauses, limits and removes clusters.

Admins and operators keep clusters; only an admin removes one. What happened to a cluster stands in
the record of every lake, because its catalogs may read several.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import IntegrityError, transaction

from portal.access import actors
from portal.access.lakes import all_lakes
from portal.audit.services import AuditEntry, audit_record_many
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation
from portal.lake.reasons import given_reason
from portal.lake.working_hours import WorkingHours
from refresh.clusters.services.fe_cache_settings import settings_read
from refresh.clusters.services.fe_client import PATIENT
from refresh.clusters.services.front_ends import front_ends_read
from refresh.clusters.services.reach import Reach
from refresh.clusters.services.table_names import names_read
from refresh.clusters.services.trial import ClusterParams, cluster_test
from refresh.core.connectors.front_end import Budget
from refresh.core.domain.names import ClusterId
from refresh.models import Cluster
from refresh.worker.domain.scheduling import Limits

MOST_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Actor(actors.Actor):
    """Who keeps a cluster."""

    @property
    def reach(self) -> Reach:
        """Where they may have the portal log in: an admin with a fresh log-in anywhere."""
        return Reach(anywhere=self.is_admin and self.is_fresh)


AT_THE_SHELL = Actor("shell", is_staff=True, is_admin=True, is_fresh=True)


def cluster_add(
    name: str, wish: ClusterParams, *, by: Actor, now: datetime, budget: Budget = PATIENT
) -> Cluster:
    """Try a cluster out and take it in; the same one twice changes nothing. The worker reads it.

    Raises:
        NotAllowed: for others than admins and operators; an address that they may not name.
        RuleViolation: a name or address that is none, a name that is taken, or a trial that failed.
    """
    check_lake_staff(by)
    named = str(ClusterId(name))
    wish = replace(wish, addresses=tuple(map(str, wish.places())))
    known = Cluster.objects.filter(name=named).first()
    if known is not None:
        return _same(known, wish)
    report = cluster_test(wish, reach=by.reach, budget=budget)
    if not report.is_good:
        raise RuleViolation(
            "cluster.trial", f"{named} was not added. {' '.join(report.problems)}", name=named
        )
    try:
        with transaction.atomic():
            made = _made(named, wish, by=by, now=now)
            data = {"addresses": wish.addresses, "user": wish.user}
            record("refresh.cluster_added", made, by=by, data=data, now=now)
    except IntegrityError:
        return _same(Cluster.objects.get(name=named), wish)
    return made


def cluster_read_ask(cluster: Cluster, *, by: Actor, now: datetime) -> None:
    """Have the worker read everything of a cluster again, as it is from now on.

    A front end that is frozen keeps the listing waiting for most of a minute, and no web request.

    Raises:
        NotAllowed: for others than admins and operators.
    """
    check_lake_staff(by)
    Cluster.objects.filter(pk=cluster.pk).update(read_requested_at=now)


def cluster_read(cluster: Cluster, *, now: datetime) -> None:
    """Read everything of a cluster again; what fails stands as its problem."""
    front_ends_read(cluster, now=now)
    names_read(cluster, now=now)
    settings_read(cluster, now=now)
    # Who asked meanwhile is not answered by a reading that began before.
    Cluster.objects.filter(pk=cluster.pk, read_requested_at__lte=now).update(read_requested_at=None)


def cluster_pause(cluster: Cluster, *, by: Actor, reason: str, now: datetime) -> None:
    """Send nothing to a cluster any more; changes are kept. Twice it changes nothing.

    Raises:
        NotAllowed: for others than admins and operators.
        RuleViolation: without a reason.
    """
    check_lake_staff(by)
    said = _reason(reason)
    with transaction.atomic():
        row = locked(cluster)
        if row.is_paused:
            return
        row.is_paused, row.paused_by, row.paused_at, row.paused_reason = True, by.name, now, said
        row.save(update_fields=["is_paused", "paused_by", "paused_at", "paused_reason"])
        record("refresh.cluster_paused", row, by=by, data={"reason": said}, now=now)


def cluster_resume(cluster: Cluster, *, by: Actor, reason: str, now: datetime) -> None:
    """Go on with a cluster; what waits is sent. Twice it changes nothing.

    Raises:
        NotAllowed: for others than admins and operators.
        RuleViolation: without a reason.
    """
    check_lake_staff(by)
    said = _reason(reason)
    with transaction.atomic():
        row = locked(cluster)
        if not row.is_paused:
            return
        row.is_paused, row.paused_by, row.paused_at, row.paused_reason = False, "", None, ""
        row.save(update_fields=["is_paused", "paused_by", "paused_at", "paused_reason"])
        record("refresh.cluster_resumed", row, by=by, data={"reason": said}, now=now)


def cluster_limits(
    cluster: Cluster, limits: Limits, *, hours: str, by: Actor, now: datetime
) -> None:
    """Say how many statements may run at once, and when very large tables may.

    Twice changes nothing.

    `hours` (as "Mon-Fri 20:00-06:00", in UTC) binds clusters before catalogs only: there a very
    large table keeps every other refresh waiting.

    Raises:
        NotAllowed: for others than admins and operators.
        RuleViolation: more than a front end can bear, or hours that cannot be read.
    """
    check_lake_staff(by)
    if max(limits.per_fe, limits.per_catalog) > MOST_AT_ONCE:
        raise RuleViolation("refresh.limits", f"At most {MOST_AT_ONCE} statements at once.")
    wanted = (limits.per_fe, limits.per_catalog, WorkingHours.read(hours).text)
    with transaction.atomic():
        row = locked(cluster)
        before = (row.per_fe, row.per_catalog, row.large_table_window)
        if before == wanted:
            return
        row.per_fe, row.per_catalog, row.large_table_window = wanted
        row.save(update_fields=["per_fe", "per_catalog", "large_table_window"])
        data = {"before": before, "after": wanted}
        record("refresh.cluster_limited", row, by=by, data=data, now=now)


def cluster_remove(cluster: Cluster, *, by: Actor, typed: str, reason: str, now: datetime) -> None:
    """Give a cluster up: its queue, what is known of its tables, and their history go.

    Raises:
        NotAllowed: for anyone but an admin.
        RuleViolation: without a reason, or without its name typed.
    """
    check_lake_staff(by)
    if not by.is_admin:
        raise NotAllowed("cluster.remove", "Only an admin removes a cluster; you may pause it.")
    said = _reason(reason)
    if typed != cluster.name:
        raise RuleViolation("cluster.typed", f"Type {cluster.name} to remove it.")
    with transaction.atomic():
        row = locked(cluster)
        record("refresh.cluster_removed", row, by=by, data={"reason": said}, now=now)
        row.delete()


def _made(name: str, wish: ClusterParams, *, by: Actor, now: datetime) -> Cluster:
    return Cluster.objects.create(
        name=name,
        addresses=list(wish.addresses),
        user=wish.user,
        password_file=wish.password_file,
        added_by=by.name,
        added_at=now,
        read_requested_at=now,
    )


def _same(known: Cluster, wish: ClusterParams) -> Cluster:
    is_same = (
        set(known.addresses) == set(wish.addresses)
        and known.user == wish.user
        and known.password_file == wish.password_file
    )
    if is_same:
        return known
    raise RuleViolation(
        "cluster.taken",
        f"There is a cluster {known.name} already, with other addresses or another login. Choose "
        "another name.",
        name=known.name,
    )


def locked(cluster: Cluster) -> Cluster:
    """Lock a cluster's row; NotVisible if it was removed meanwhile."""
    row = Cluster.objects.select_for_update().filter(pk=cluster.pk).first()
    if row is None:
        raise NotVisible("cluster.unknown", "There is no such cluster any more.")
    return row


def check_lake_staff(by: Actor) -> None:
    """Let nobody but admins and operators; NotAllowed `cluster.role`."""
    if not by.is_staff:
        raise NotAllowed("cluster.role", "Admins and operators keep clusters.")


def _reason(reason: str) -> str:
    return given_reason(reason, "cluster.reason")


def record(
    action: str, cluster: Cluster, *, by: Actor, data: Mapping[str, object], now: datetime
) -> None:
    """Put what happened to a cluster into the record of every lake."""
    audit_record_many(
        [
            AuditEntry(action, by.name, lake, "cluster", cluster.name, data)
            for lake in sorted(all_lakes()) or [""]
        ],
        now=now,
    )
