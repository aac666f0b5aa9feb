"""Models of the statements sent to front ends, their reasons, and the outcome on each."""

import uuid
from enum import StrEnum
from typing import ClassVar, Self

from django.db import models

from portal.access.models import User
from portal.access.visibility import visible_to
from refresh.changes.models import RefreshTarget
from refresh.clusters.models import NAME_LENGTH, Cluster
from refresh.worker.domain.lanes import Lane
from refresh.worker.domain.steps import StepKind


class RefreshOutcome(StrEnum):
    """How one statement ended; LOST: its worker ended first, so nothing is known of it."""

    RUNNING = "RUNNING"
    DONE = "DONE"
    PARTIAL = "PARTIAL"
    FAILED = "FAILED"
    LOST = "LOST"


class RefreshQuerySet(models.QuerySet["Refresh"]):
    """Statements, cut to what somebody may see."""

    def for_user(self, user: User) -> Self:
        """Keep the rows that `user` may see."""
        return self.filter(visible_to(user, prefix="target__watched__"))


class Refresh(models.Model):
    """One statement that was sent."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    target = models.ForeignKey(RefreshTarget, on_delete=models.CASCADE, related_name="history")
    coordinator = models.CharField(max_length=NAME_LENGTH, help_text="the front end that took it")
    kind = models.CharField(max_length=12, choices=[(one.value, one.value) for one in StepKind])
    n_partitions = models.PositiveIntegerField()
    examples = models.JSONField(default=list, help_text="the first few partition names")
    causes = models.JSONField(default=list)
    lane = models.PositiveSmallIntegerField(choices=[(lane.value, lane.name) for lane in Lane])
    waited_since = models.DateTimeField()
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    epoch = models.PositiveIntegerField()
    ending = models.CharField(
        max_length=8,
        default=RefreshOutcome.RUNNING.value,
        choices=[(one.value, one.value) for one in RefreshOutcome],
    )
    code = models.IntegerField(null=True)
    message = models.TextField(blank=True, help_text="the error in one short line")
    on_fes = models.JSONField(default=dict, help_text="front end -> [outcome, why]")

    objects = RefreshQuerySet.as_manager()

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["cluster", "began_at"], name="refresh_history_time"),
            models.Index(fields=["target", "began_at"], name="refresh_history_table"),
            models.Index(fields=["ending", "began_at"], name="refresh_history_ending"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.target}"

    @property
    def outcomes(self) -> list[tuple[str, str, str, str]]:
        """Address, outcome, why and internal name of each front end, by address.

        One that is registered no more is known by its internal name only.
        """
        address = self.cluster.address_of
        return sorted(
            (address(name), outcome, reason, name)
            for name, (outcome, reason) in self.on_fes.items()
        )

    @property
    def taker_address(self) -> str:
        """The address of the front end that took it."""
        return self.cluster.address_of(self.coordinator)

    @property
    def by_address(self) -> dict[str, list[str]]:
        """Outcome and reason by the address of each front end."""
        return {address: [outcome, reason] for address, outcome, reason, _ in self.outcomes}

    @property
    def seconds(self) -> float | None:
        """How long it took; None while it runs."""
        return (self.ended_at - self.began_at).total_seconds() if self.ended_at else None

    @property
    def waited(self) -> float:
        """How long the oldest of what it takes in had waited before it was sent, in seconds."""
        return (self.began_at - self.waited_since).total_seconds()
