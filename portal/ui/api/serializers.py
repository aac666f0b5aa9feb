"""Serializers of runs, events and the emergency stop, and the field of a lake."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from portal.access.lakes import only_lake
from portal.audit.models import AuditEvent
from portal.notices.models import Notice
from portal.runs.models import Run, RunEvent
from portal.ui.api.old_names import OldNames
from portal.ui.run_steps import read_causes, run_seconds


class LakeField(serializers.CharField):
    """The name of a lake; the only one where it is left out."""

    def __init__(self, **options: Any) -> None:
        said = {"help_text": "may be left out where one lake is governed", "max_length": 32}
        super().__init__(**{"required": False, **said, **options})

    def get_default(self) -> str:
        """Return the only lake.

        Raises:
            PortalError: there is none or more than one.
        """
        return only_lake()


class RunSerializer(serializers.ModelSerializer[Run]):
    """A run as it is."""

    causes = serializers.SerializerMethodField(
        help_text="The people for whom a run that the schedule started does its work."
    )

    seconds = serializers.SerializerMethodField(
        help_text="How long it took, or has run by now; null before it began."
    )

    class Meta:
        model = Run
        fields: tuple[str, ...] = (
            *("id", "lake", "kind", "state", "requested_by", "causes", "reason", "subject_type"),
            *("subject_id", "queued_at", "submitted_at", "finished_at", "phase", "done", "total"),
            *("message", "silent_since", "error", "result", "cancel_requested_by", "seconds"),
        )
        read_only_fields = fields

    def get_seconds(self, run: Run) -> float | None:
        """Return its duration."""
        return run_seconds(run, now=timezone.now())

    def get_causes(self, run: Any) -> list[str]:
        """Return them; lists read them for all their runs at once."""
        if not hasattr(run, "causes"):
            read_causes([run])
        return list(run.causes)


class RunLineSerializer(serializers.ModelSerializer[RunEvent]):
    """One line of a run's log."""

    class Meta:
        model = RunEvent
        fields = ("seq", "at", "level", "text")
        read_only_fields = fields


class RunStepSerializer(OldNames, serializers.Serializer[object]):
    """Something that may be done about how a run ended, and the page where it is done."""

    old_names = {
        "why": "reason",
    }

    title = serializers.CharField(read_only=True)
    url = serializers.CharField(read_only=True)
    reason = serializers.CharField(read_only=True)


class RunDetailSerializer(RunSerializer):
    """A run with the last lines of its log."""

    waits = serializers.CharField(
        read_only=True, help_text="What keeps it from starting though nothing is wrong with it."
    )
    steps = RunStepSerializer(many=True, read_only=True)
    lines = RunLineSerializer(many=True, read_only=True, source="last_lines")

    driver_log = serializers.CharField(
        read_only=True, help_text="The page of its driver's log; empty where none was captured."
    )
    cluster_log = serializers.CharField(
        read_only=True, help_text="Where the cluster shows its driver's log; empty where unknown."
    )

    class Meta(RunSerializer.Meta):
        fields: tuple[str, ...] = (
            *(*RunSerializer.Meta.fields, "waits", "steps", "lines", "application_id"),
            *("driver_log", "cluster_log"),
        )
        read_only_fields = fields


class DriverLogSerializer(serializers.Serializer[object]):
    """A part of the log of the driver of a run, its oldest line first."""

    attempt = serializers.IntegerField()
    attempts = serializers.ListField(
        child=serializers.IntegerField(), help_text="Those of which a log was captured."
    )
    lines = serializers.ListField(child=serializers.CharField())
    older = serializers.IntegerField(
        allow_null=True, help_text="What to give as `before` to read on; null at the beginning."
    )


class MailSerializer(serializers.ModelSerializer[Notice]):
    """One mail to one person, and what became of it."""

    kind_words = serializers.CharField(read_only=True, help_text="The kind, as pages call it.")

    class Meta:
        model = Notice
        fields: tuple[str, ...] = (
            *(
                "id",
                "lake",
                "kind",
                "kind_words",
                "day",
                "recipient",
                "email",
                "subject",
                "state",
                "attempts",
            ),
            *("n_repeats", "queued_at", "sent_at", "message_id", "error"),
        )
        read_only_fields = fields


class MailDetailSerializer(MailSerializer):
    """A mail with what it says."""

    class Meta(MailSerializer.Meta):
        fields: tuple[str, ...] = (*MailSerializer.Meta.fields, "text", "html")
        read_only_fields = fields


class MailRetrySerializer(serializers.Serializer[None]):
    """The address to try; empty = the one that the mail has."""

    email = serializers.CharField(max_length=254, required=False, allow_blank=True, default="")


class MailKindSerializer(serializers.Serializer[dict[str, object]]):
    """One kind of mail."""

    kind = serializers.CharField(help_text="The kinds of its mails begin with it.")
    title = serializers.CharField()
    may_be_muted = serializers.BooleanField(help_text="Whether you may turn it off.")
    is_muted = serializers.BooleanField(help_text="Whether you turned it off.")


class MutedSerializer(serializers.Serializer[None]):
    """The kinds to turn off; all others are turned on."""

    kinds = serializers.ListField(child=serializers.CharField(max_length=64), max_length=100)


class AuditEventSerializer(serializers.ModelSerializer[AuditEvent]):
    """One event with its seal."""

    class Meta:
        model = AuditEvent
        fields = (
            *("seq", "at", "action", "actor", "lake", "object_type", "object_id", "data"),
            *("previous_hash", "hash"),
        )
        read_only_fields = fields


class ReasonSerializer(serializers.Serializer[None]):
    """Why it is done; never empty."""

    reason = serializers.CharField(max_length=1000)


class EmergencyStopChangeSerializer(serializers.Serializer[None]):
    """One step: press, explain a press; propose to release, confirm or withdraw that proposal."""

    do = serializers.ChoiceField(
        choices=("press", "explain", "release", "confirm", "withdraw"),
        help_text=(
            "`press` stops at once, and cancels a proposal to release; `explain` gives the reason "
            "of a press that had none; `release` proposes to end the stop (an admin, with a "
            "reason); `confirm` by another admin ends it; `withdraw` takes the proposal back."
        ),
    )
    reason = serializers.CharField(
        max_length=1000,
        required=False,
        allow_blank=True,
        default="",
        help_text="Needed by `release` and `explain`; a `press` may give it later.",
    )
    release_id = serializers.CharField(
        max_length=36,
        required=False,
        allow_blank=True,
        default="",
        help_text="Needed by `confirm`: the id of exactly the proposal that was read.",
    )


class StopReleaseSerializer(serializers.Serializer[object]):
    """A proposal to end the stop, which waits for a second admin."""

    id = serializers.CharField(read_only=True)
    proposed_by = serializers.CharField(read_only=True)
    proposed_at = serializers.DateTimeField(read_only=True)
    expires_at = serializers.DateTimeField(read_only=True)
    reason = serializers.CharField(read_only=True)


class ResumptionSerializer(serializers.Serializer[object]):
    """Work that starts again when the stop ends."""

    title = serializers.CharField(read_only=True)
    n_waiting = serializers.IntegerField(read_only=True)


class EmergencyStopSerializer(serializers.Serializer[object]):
    """Whether the button is on, by whom and why."""

    lake = serializers.CharField(read_only=True)
    is_on = serializers.BooleanField(read_only=True)
    pressed_by = serializers.CharField(read_only=True, allow_null=True)
    pressed_at = serializers.DateTimeField(read_only=True, allow_null=True)
    reason = serializers.CharField(read_only=True, allow_null=True)
    needs_reason = serializers.BooleanField(read_only=True)
    release = StopReleaseSerializer(
        read_only=True, allow_null=True, help_text="The proposal that waits, if any."
    )
    may = serializers.ListField(
        child=serializers.CharField(), read_only=True, help_text="The steps open to you now."
    )
    resumes = ResumptionSerializer(
        many=True,
        read_only=True,
        help_text="What starts again at the end of the stop; for admins and operators.",
    )
    working_hours = serializers.CharField(
        read_only=True, help_text="When drops and purges may start; empty: at any time."
    )
    waits = serializers.CharField(
        read_only=True, help_text="Until when they wait; empty while they may start."
    )


class HealthSerializer(serializers.Serializer[object]):
    """How one thing that the portal needs answered just now."""

    name = serializers.CharField(read_only=True)
    title = serializers.CharField(read_only=True)
    ok = serializers.BooleanField(read_only=True)
    detail = serializers.CharField(read_only=True)
    means = serializers.CharField(read_only=True)
    ms = serializers.FloatField(read_only=True)
