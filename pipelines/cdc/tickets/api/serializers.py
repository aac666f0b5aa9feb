"""Serializers of tickets."""

from typing import ClassVar

from rest_framework import serializers

from pipelines.cdc.tickets.domain.prediction import MOST_SIGNS
from pipelines.models import SchemaTicket


class TicketOpenSerializer(serializers.Serializer[object]):
    """A statement that is to run at the source."""

    db = serializers.CharField(max_length=256, help_text="of the table at the source")
    table = serializers.CharField(max_length=256, help_text="at the source")
    statement = serializers.CharField(
        max_length=MOST_SIGNS, help_text="one ALTER TABLE, as it will run"
    )
    reason = serializers.CharField(max_length=1000)
    choices = serializers.DictField(
        child=serializers.CharField(max_length=80),
        default=dict,
        help_text="the protection of each column that the statement adds: plain, encrypted:PII",
    )
    callback_url = serializers.CharField(
        max_length=1024,
        allow_blank=True,
        default="",
        help_text="told of each state by a POST; its host must be in LAKEWARDEN_CALLBACK_HOSTS",
    )


class TicketChangeSerializer(serializers.Serializer[object]):
    """One single change."""

    what = serializers.CharField(read_only=True)
    cls = serializers.CharField(read_only=True, help_text="auto, person or refused")
    reason = serializers.CharField(read_only=True)
    column = serializers.CharField(read_only=True, default="")


class CountedColumnSerializer(serializers.Serializer[object]):
    """A column whose values would be lost."""

    column = serializers.CharField(read_only=True)
    old = serializers.CharField(read_only=True)
    new = serializers.CharField(read_only=True)
    n_lost = serializers.IntegerField(read_only=True)


class CountedSerializer(serializers.Serializer[object]):
    """Rows of the lake's table, and those of them that the change would lose."""

    n_rows = serializers.IntegerField(read_only=True)
    n_lost = serializers.IntegerField(read_only=True)
    columns = CountedColumnSerializer(many=True, read_only=True)


class TicketSerializer(serializers.ModelSerializer[SchemaTicket]):
    """A ticket: run the statement once its state is RELEASED."""

    pipeline = serializers.CharField(read_only=True, source="captured.pipeline.name")
    source_table = serializers.CharField(read_only=True, source="captured.__str__")
    changes = TicketChangeSerializer(many=True, read_only=True)
    counted = CountedSerializer(read_only=True, allow_null=True)
    choices = serializers.DictField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = SchemaTicket
        fields: ClassVar[list[str]] = [
            *("id", "state", "pipeline", "source_table", "db", "table", "statement", "reason"),
            *("change_class", "changes", "choices", "counted", "count_problem"),
            *("requested_by", "created_at", "approved_at", "released_at", "ended_at", "note"),
            *("seen_number", "callback_sent_at", "callback_problem"),
        ]
        read_only_fields = fields
