"""Serializers of findings."""

from typing import Any

from rest_framework import serializers

from lifecycle.backup.models import Hold
from lifecycle.core.api.names import PartitionField
from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.models import (
    DatabaseFinding,
    DryRunRecord,
    PathFinding,
    SamplePartition,
    TableFinding,
)
from portal.ui.api.old_names import OldNames


class PathSerializer(OldNames, serializers.ModelSerializer[PathFinding]):
    """A path rule violation with its reasons."""

    old_names = {"waived_until": "excepted_until"}

    reasons = serializers.ListField(child=serializers.CharField(), read_only=True)
    related = serializers.ListField(child=serializers.CharField(), read_only=True)
    state = serializers.CharField(read_only=True)
    waived = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = PathFinding
        fields = (
            "kind", "db", "table", "partition", "owner", "db_owner", "location", "reasons",
            "related", "hint", "state", "waived", "excepted_until",
        )  # fmt: skip
        read_only_fields = fields


class WaitingRequestSerializer(serializers.Serializer[Any]):
    """A request about a whole table that waits for somebody."""

    words = serializers.CharField(read_only=True)
    by = serializers.CharField(read_only=True)
    waits_for = serializers.CharField(read_only=True)
    key = serializers.UUIDField(allow_null=True, help_text="Of the policy request, if it is one.")


class KeptSerializer(serializers.Serializer[Any]):
    """What is on hold now, also by holds that the scan did not know, and what waits for a yes."""

    is_whole = serializers.BooleanField(help_text="All of it is on hold.")
    until = serializers.DateTimeField(allow_null=True, help_text="null = no end, or no whole hold.")
    by = serializers.CharField(read_only=True, help_text="Who placed the longest hold on it.")
    waiting = WaitingRequestSerializer(many=True, read_only=True)
    n_parts = serializers.IntegerField(help_text="Partitions of a table that are on hold.")
    n_pending = serializers.IntegerField(help_text="Requests about it that wait for an answer.")
    n_dropped = serializers.IntegerField(
        help_text="Due items dropped since the scan, in a backup; not counted as due."
    )


class DueSerializer(serializers.Serializer[Any]):
    """Items by the three classes that lead to a notice."""

    n_items = serializers.IntegerField()
    n_bytes = serializers.IntegerField()
    n_clean_now = serializers.IntegerField()
    n_soon = serializers.IntegerField()
    n_still_read = serializers.IntegerField()


class NeedsAnswerSerializer(serializers.Serializer[Any]):
    """What of yours waits for an answer, and what is counted beside it."""

    waiting = DueSerializer(help_text="In databases that notify; not on hold, not dropped.")
    observed = DueSerializer(help_text="In databases in Monitor only; nobody is mailed.")
    kept = DueSerializer(help_text="Put on hold since the last scan.")
    answered = DueSerializer(help_text="Of tables about which a request waits for somebody else.")
    dropped = DueSerializer(help_text="Dropped since the last scan; in a backup.")


class TableSerializer(serializers.ModelSerializer[TableFinding]):
    """A table with how many of its items stand in each class."""

    kept = KeptSerializer(read_only=True)
    mode = serializers.ChoiceField(
        choices=[mode.value for mode in DatabaseMode], source="mode_now", read_only=True
    )
    reasons = serializers.ListField(child=serializers.CharField(), read_only=True)
    class_bytes = serializers.DictField(child=serializers.IntegerField(), read_only=True)

    class Meta:
        model = TableFinding
        fields: tuple[str, ...] = (
            "db", "table", "tbl_id", "owner", "db_owner", "mode", "table_type", "format",
            "location", "level", "ttl", "policy_source", "enrolled", "reasons",
            "unsupported_reason", "n_partitions", "n_files", "n_bytes", "n_clean_now", "n_soon",
            "n_not_now", "n_still_read", "n_held", "n_not_enrolled", "n_unsupported",
            "n_nonconforming", "n_unready", "n_keep_forever", "n_missing_directory", "n_unknown",
            "class_bytes", "oldest_updated_at", "newest_updated_at", "next_due_on", "kept",
        )  # fmt: skip
        read_only_fields = fields


class TableDetailSerializer(OldNames, TableSerializer):
    """A table with who is notified of it, and the owners named for it whom nobody knows."""

    old_names = {"told": "notified"}

    notified = serializers.ListField(child=serializers.CharField(), read_only=True)
    unknown_owners = serializers.ListField(child=serializers.CharField(), read_only=True)
    left_owners = serializers.ListField(
        child=serializers.CharField(), read_only=True, help_text="Of the unknown: who has left."
    )

    class Meta(TableSerializer.Meta):
        fields: tuple[str, ...] = (
            *(*TableSerializer.Meta.fields, "notified", "unknown_owners", "left_owners"),
        )
        read_only_fields = fields


class ItemSerializer(serializers.ModelSerializer[SamplePartition]):
    """A partition, or an unpartitioned table as one item, with both clocks."""

    kept = KeptSerializer(read_only=True)

    class Meta:
        model = SamplePartition
        fields = (
            "partition", "location", "cls", "reason", "level", "ttl", "policy_source", "ddl_at",
            "created_at", "modified_at", "read_at", "updated_at", "winner", "due_at", "due_on",
            "n_files", "n_bytes", "ready", "kept",
        )  # fmt: skip
        read_only_fields = fields


class DatabaseSerializer(serializers.ModelSerializer[DatabaseFinding]):
    """A database with the mode that it is in now."""

    mode = serializers.ChoiceField(
        choices=[mode.value for mode in DatabaseMode], source="mode_now", read_only=True
    )
    reasons = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = DatabaseFinding
        fields = (
            "db", "owner", "location", "mode", "reasons", "n_tables", "n_partitions",
            "n_clean_now", "n_soon", "bytes_clean_now", "bytes_soon",
        )  # fmt: skip
        read_only_fields = fields


class DryRunSerializer(serializers.ModelSerializer[DryRunRecord]):
    """One day of OBSERVE."""

    examples = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = DryRunRecord
        fields = (
            "day", "n_due", "n_bytes_due", "n_new", "n_written_again", "n_read_again", "examples",
        )  # fmt: skip
        read_only_fields = fields


class ModeChangeSerializer(serializers.Serializer[Any]):
    """A move of a database to another mode; `seen` is the mode that the caller saw."""

    seen = serializers.ChoiceField(choices=[mode.value for mode in DatabaseMode])
    wanted = serializers.ChoiceField(choices=[mode.value for mode in DatabaseMode])
    reason = serializers.CharField(max_length=1000)


class ModeSerializer(serializers.Serializer[Any]):
    """The mode that a database is in."""

    db = serializers.CharField(read_only=True)
    mode = serializers.ChoiceField(choices=[mode.value for mode in DatabaseMode], read_only=True)


class SentNoticeSerializer(serializers.Serializer[Any]):
    """The notice that speaks of an item."""

    state = serializers.CharField(read_only=True)
    recipient = serializers.CharField(read_only=True)
    queued_on = serializers.DateField(read_only=True)
    sent_on = serializers.DateField(read_only=True, allow_null=True)


class WhySerializer(serializers.Serializer[Any]):
    """Why an item expires, when it may go and what stops it."""

    item = ItemSerializer(read_only=True)
    mode = serializers.ChoiceField(choices=[mode.value for mode in DatabaseMode], read_only=True)
    announcement = SentNoticeSerializer(read_only=True, allow_null=True)
    earliest_on = serializers.DateField(read_only=True, allow_null=True)
    stops = serializers.ListField(child=serializers.CharField(), read_only=True)


class PictureSerializer(serializers.Serializer[Any]):
    """How old the picture is, and its totals."""

    as_of = serializers.DateTimeField(read_only=True)
    read_at = serializers.DateTimeField(read_only=True)
    day = serializers.DateField(read_only=True)
    run = serializers.UUIDField(source="run_id", read_only=True)
    totals = serializers.DictField(read_only=True)


class ScanSerializer(serializers.Serializer[Any]):
    """Why a scan is asked for."""

    reason = serializers.CharField(max_length=1000, required=False, default="")


class HoldSerializer(serializers.ModelSerializer[Hold]):
    """A hold that stands."""

    id = serializers.UUIDField(source="public_id", read_only=True)

    class Meta:
        model = Hold
        fields = (
            "id", "db", "table", "partition", "kind", "until", "reason", "placed_by", "placed_at",
        )  # fmt: skip
        read_only_fields = fields


class HoldPlaceSerializer(serializers.Serializer[Any]):
    """What is to be held for legal reasons; without `until` it stands until it is released."""

    db = serializers.CharField(max_length=128)
    table = serializers.CharField(max_length=256, required=False, default="")
    partition = PartitionField(required=False, default="")
    until = serializers.DateTimeField(required=False, allow_null=True, default=None)
    reason = serializers.CharField(max_length=1000)
