"""Models of changes in Hive tables, and of what each front end took in of them.

The queue is the difference of the two: a target waits while a front end owes it something.
"""

from typing import ClassVar, Self

from django.db import models

from portal.access.models import User
from portal.access.visibility import visible_to
from refresh.changes.domain.changes import PartitionChange
from refresh.clusters.models import CATALOG_LENGTH, NAME_LENGTH, Cluster, ClusterFrontEnd
from refresh.core.domain.names import ClusterId, ExternalTable
from refresh.freshness.domain.freshness import Danger, Freshness, Standing, standing_away
from refresh.worker.domain.lanes import Lane

OWNER_LENGTH = 128


class WatchedTable(models.Model):
    """A Hive table whose changes some cluster must hear of."""

    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128)
    table = models.CharField(max_length=256)
    owner = models.CharField(max_length=OWNER_LENGTH, blank=True)
    tracked_since = models.DateTimeField(help_text="every change since then is known")
    changed_at = models.DateTimeField(help_text="the last change, as the portal received it")
    table_changed_at = models.DateTimeField(
        null=True, help_text="the last unsettled change of the table"
    )
    causes = models.JSONField(default=list, help_text="who asked for what is not settled")
    is_deleted = models.BooleanField(default=False, help_text="the metastore had it no more")
    is_partitioned = models.BooleanField(null=True, help_text="null until it was checked")
    n_partitions = models.BigIntegerField(null=True)
    inspected_at = models.DateTimeField(null=True)
    is_opted_out = models.BooleanField(default=False, help_text="nobody refreshes it: opted out")
    opted_out_by = models.CharField(max_length=150, blank=True)
    opted_out_at = models.DateTimeField(null=True)
    opted_out_reason = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["lake", "db", "table"], name="refresh_watched_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["lake", "changed_at"], name="refresh_watched_hot"),
        ]

    def __str__(self) -> str:
        return f"{self.db}.{self.table}"


class ChangedPartition(models.Model):
    """The last unsettled change of one partition."""

    table = models.ForeignKey(WatchedTable, on_delete=models.CASCADE, related_name="changed")
    # A name may be longer than an index takes.
    digest = models.CharField(max_length=64, help_text="sha256 of the name")
    name = models.TextField()
    at = models.DateTimeField()
    touch = models.CharField(
        max_length=8, choices=[(one.value, one.value) for one in PartitionChange]
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["table", "digest"], name="refresh_changed_once")
        ]

    def __str__(self) -> str:
        return f"{self.touch} {self.name}"


class TargetQuerySet(models.QuerySet["RefreshTarget"]):
    """Targets, cut to what somebody may see."""

    def for_user(self, user: User) -> Self:
        """Keep the rows that `user` may see."""
        return self.filter(visible_to(user, prefix="watched__"))


class RefreshTarget(models.Model):
    """A table as one cluster names it, its place in the queue, and how it stands.

    `due_at` null: nobody owes anything. `steps` holds what was planned, `running_since` that the
    first of them was sent.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="targets")
    catalog = models.CharField(max_length=CATALOG_LENGTH, blank=True)
    db = models.CharField(max_length=NAME_LENGTH)
    table = models.CharField(max_length=NAME_LENGTH)
    watched = models.ForeignKey(WatchedTable, on_delete=models.CASCADE, related_name="targets")
    # -- the queue -------------------------------------------------------------------------
    due_at = models.DateTimeField(null=True, help_text="when gathering ends; null: nothing waits")
    waits_since = models.DateTimeField(null=True)
    is_urgent = models.BooleanField(default=False)
    lane = models.PositiveSmallIntegerField(
        null=True, choices=[(lane.value, lane.name) for lane in Lane]
    )
    steps = models.JSONField(null=True, help_text="planned statements; null: not planned yet")
    only_on = models.CharField(max_length=NAME_LENGTH, blank=True)
    expected_seconds = models.FloatField(null=True)
    not_before = models.DateTimeField(null=True, help_text="a retry waits until then")
    n_tries = models.PositiveIntegerField(default=0)
    running_since = models.DateTimeField(null=True)
    running_on = models.CharField(max_length=NAME_LENGTH, blank=True)
    epoch = models.PositiveIntegerField(default=0, help_text="of the worker that sent it")
    outcome_unknown_kind = models.CharField(
        max_length=12, blank=True, help_text="of a statement that may still run unheard"
    )
    outcome_unknown_until = models.DateTimeField(
        null=True, help_text="when that one must have ended"
    )
    past = models.JSONField(default=dict, help_text="kind -> [[seconds, partitions]], newest last")
    # -- how it stands ---------------------------------------------------------------------
    freshness = models.CharField(
        max_length=8,
        default=Freshness.UNKNOWN.value,
        choices=[(one.value, one.value) for one in Freshness],
    )
    danger = models.CharField(
        max_length=12,
        default=Danger.UNKNOWN.value,
        choices=[(one.value, one.value) for one in Danger],
    )
    rank = models.PositiveSmallIntegerField(default=0, help_text="what must be seen first is 0")
    reason = models.TextField(blank=True)
    stale_since = models.DateTimeField(null=True)
    refreshed_at = models.DateTimeField(null=True, help_text="when all that live had it all")
    problem = models.TextField(blank=True, help_text="the last error, short")

    objects = TargetQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cluster", "catalog", "db", "table"], name="refresh_target_once"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["cluster", "due_at"], name="refresh_target_due"),
            models.Index(
                fields=["cluster", "lane", "is_urgent", "waits_since"], name="refresh_target_lane"
            ),
            models.Index(fields=["cluster", "running_since"], name="refresh_target_running"),
            models.Index(fields=["rank", "id"], name="refresh_target_rank"),
        ]

    def __str__(self) -> str:
        return ".".join(part for part in (self.catalog, self.db, self.table) if part)

    @property
    def running_on_address(self) -> str:
        """The address of the front end that runs its statement; empty: none does."""
        return self.cluster.address_of(self.running_on) if self.running_on else ""

    @property
    def only_on_address(self) -> str:
        """The address of the one front end that must take the next statement; empty: any may."""
        return self.cluster.address_of(self.only_on) if self.only_on else ""

    @property
    def external(self) -> ExternalTable:
        """The table as the domain knows it; its cluster must be loaded."""
        return ExternalTable(ClusterId(self.cluster.name), self.catalog, self.db, self.table)


class TargetFrontEnd(models.Model):
    """What one front end is known to have taken in of one table, and how it stands there."""

    target = models.ForeignKey(RefreshTarget, on_delete=models.CASCADE, related_name="on_fes")
    fe = models.ForeignKey(ClusterFrontEnd, on_delete=models.CASCADE, related_name="+")
    done = models.JSONField(default=list, help_text="[began, ended, [partitions]], oldest first")
    done_at = models.DateTimeField(null=True, help_text="when the last refresh there ended")
    n_tries = models.PositiveIntegerField(default=0, help_text="failures since the last success")
    problem = models.TextField(blank=True)
    needs_refresh = models.BooleanField(
        default=False, help_text="a change was not taken in, whether it can be asked or not"
    )
    freshness = models.CharField(
        max_length=8,
        default=Freshness.UNKNOWN.value,
        choices=[(one.value, one.value) for one in Freshness],
    )
    danger = models.CharField(
        max_length=12,
        default=Danger.UNKNOWN.value,
        choices=[(one.value, one.value) for one in Danger],
    )
    reason = models.TextField(blank=True)
    stale_since = models.DateTimeField(null=True)
    probed_at = models.DateTimeField(null=True)
    probe_problem = models.TextField(
        blank=True, help_text="why the last probe could not ask it; empty: it could"
    )
    diverged_at = models.DateTimeField(null=True)
    divergence_reason = models.TextField(blank=True)
    divergence_began_at = models.DateTimeField(
        null=True, help_text="since when it is known to diverge, until a probe agrees again"
    )
    divergence_mailed_at = models.DateTimeField(
        null=True, help_text="when admins and operators were last mailed of it"
    )
    is_divergence_mailed = models.BooleanField(
        default=False, help_text="whether that mail said that it diverges"
    )
    n_divergences_held = models.PositiveIntegerField(
        default=0, help_text="divergences begun since that mail, which no mail spoke of"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["target", "fe"], name="refresh_on_fe_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["fe", "needs_refresh"], name="refresh_on_fe_owes"),
            models.Index(fields=["divergence_mailed_at"], name="refresh_on_fe_mailed"),
        ]

    def __str__(self) -> str:
        return f"{self.target} on {self.fe}"

    @property
    def now(self) -> Standing:
        """How the table stands there: whether the front end lives is newer than the judgement."""
        return standing_away(self.fe.state) or Standing(
            Freshness(self.freshness), Danger(self.danger), self.reason, self.stale_since
        )
