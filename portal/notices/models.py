"""Models of notifications, with their acceptance by the mail server, and calendar addresses."""

import uuid
from enum import StrEnum

from django.db import models

from portal.notices.kinds import mail_kind_title


class NoticeState(StrEnum):
    """The states of a notice; FAILED is shown to operators."""

    QUEUED = "QUEUED"
    SENDING = "SENDING"
    SENT = "SENT"
    FAILED = "FAILED"


class Notice(models.Model):
    """One mail to one person of one kind on one day: never written twice."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    lake = models.CharField(max_length=32)
    kind = models.CharField(max_length=64)
    day = models.DateField()
    recipient = models.CharField(max_length=150)
    email = models.CharField(max_length=254, blank=True, default="")
    subject = models.CharField(max_length=250)
    text = models.TextField()
    html = models.TextField(blank=True, default="")
    message_id = models.CharField(max_length=120, unique=True)
    state = models.CharField(max_length=8, default=NoticeState.QUEUED.value)
    attempts = models.PositiveSmallIntegerField(default=0)
    queued_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True)
    not_before = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    sent_on = models.DateField(null=True)
    error = models.CharField(max_length=500, blank=True, default="")
    muted_at = models.DateTimeField(
        null=True, help_text="When its one-click link turned off mails of its kind."
    )
    n_repeats = models.PositiveSmallIntegerField(
        default=0,
        help_text="How often it was sent again although the server may have taken it before.",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["lake", "kind", "day", "recipient"], name="notices_once_a_day"
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=[state.value for state in NoticeState]),
                name="notices_known_state",
            ),
        ]
        indexes = [
            models.Index(fields=["state", "not_before"], name="notices_due"),
            models.Index(fields=["lake", "recipient", "day"], name="notices_by_person"),
            models.Index(fields=["lake", "queued_at", "id"], name="notices_by_time"),
            models.Index(fields=["lake", "n_repeats"], name="notices_by_repeats"),
            models.Index(fields=["lake", "state"], name="notices_by_state"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.day} to {self.recipient}"

    @property
    def kind_words(self) -> str:
        """The kind in words: `optimizer.hudi_alarm.1732` is "Alarm: Hudi table"."""
        return mail_kind_title(self.kind)


class CalendarAddress(models.Model):
    """The hash of the secret by which a calendar program reads for one person."""

    user = models.OneToOneField("access.User", on_delete=models.CASCADE, related_name="+")
    secret_sha256 = models.CharField(max_length=64, unique=True)
    made_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"calendar of {self.user_id}"


class MutedMail(models.Model):
    """A kind of mail that a person turned off."""

    user = models.ForeignKey("access.User", on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "kind"], name="notices_muted_once")]

    def __str__(self) -> str:
        return f"{self.kind} muted by {self.user_id}"
