"""Serializers of policies, policy requests, enrollments and the shadow record."""

from typing import Any

from rest_framework import serializers

from lifecycle.core.api.names import PartitionField
from lifecycle.core.domain.enrollment import MAX_TTL_DAYS
from lifecycle.models import Enrollment, EnrollmentItem, PathException, PolicyRequest
from lifecycle.policies.domain.states import RequestKind
from lifecycle.rules.domain.conformity import Reason
from portal.ui.api.old_names import OldNames
from portal.ui.api.serializers import ReasonSerializer

LEVELS = (0, 1)


class ValuesSerializer(serializers.Serializer[Any]):
    """A LEVEL and a TTL; null where there is none that can be read."""

    level = serializers.IntegerField(read_only=True, allow_null=True)
    ttl = serializers.IntegerField(read_only=True, allow_null=True)


class AmountSerializer(serializers.Serializer[Any]):
    """So many partitions or tables; bytes and files of those that were measured."""

    n = serializers.IntegerField(read_only=True)
    n_bytes = serializers.IntegerField(read_only=True)
    n_files = serializers.IntegerField(read_only=True)
    n_unmeasured = serializers.IntegerField(read_only=True)


class OutcomeSerializer(serializers.Serializer[Any]):
    """What the age rule says, by class."""

    now = AmountSerializer(read_only=True)
    still_read = AmountSerializer(read_only=True)
    unsure = AmountSerializer(read_only=True)
    soon = AmountSerializer(read_only=True)
    later = AmountSerializer(read_only=True)
    stays = AmountSerializer(read_only=True)


class WhatIfSerializer(serializers.Serializer[Any]):
    """A table's items as they stand and as they would under other values."""

    as_of = serializers.DateTimeField(read_only=True)
    before = OutcomeSerializer(read_only=True)
    after = OutcomeSerializer(read_only=True)
    metadata_rows = serializers.IntegerField(read_only=True)


class OfferSerializer(serializers.Serializer[Any]):
    """What keeping data some days more would mean."""

    until = serializers.DateField(read_only=True)
    needs_admin = serializers.BooleanField(read_only=True)
    used_days = serializers.IntegerField(read_only=True)


class ChangeSerializer(serializers.Serializer[Any]):
    """One recorded change."""

    at = serializers.DateTimeField(read_only=True)
    actor = serializers.CharField(read_only=True)
    before = serializers.CharField(read_only=True)
    after = serializers.CharField(read_only=True)
    reason = serializers.CharField(read_only=True)
    by_portal = serializers.BooleanField(read_only=True)


class DatabasePolicySerializer(serializers.Serializer[Any]):
    """What new tables of a database get, as far as it was read."""

    values = ValuesSerializer(read_only=True)
    problem = serializers.CharField(read_only=True)
    known_at = serializers.DateTimeField(read_only=True, allow_null=True)
    history = ChangeSerializer(many=True, read_only=True)


class TablePolicySerializer(DatabasePolicySerializer):
    """What is on a table, what would go under other values, and who changed it."""

    owner = serializers.CharField(read_only=True)
    is_newer_than_scan = serializers.BooleanField(read_only=True)
    what_if = WhatIfSerializer(read_only=True)
    offer = OfferSerializer(read_only=True, allow_null=True)


class PolicyRequestSerializer(serializers.ModelSerializer[PolicyRequest]):
    """One request and what came of it."""

    class Meta:
        model = PolicyRequest
        fields: tuple[str, ...] = (
            *("id", "kind", "db", "table", "partition", "state", "seen_level", "seen_ttl"),
            *("seen_owner", "level", "ttl", "owner", "rule", "days", "until", "needs_admin"),
            "reason",
            *("digest", "requested_by", "created_at", "decided_by", "ended_at", "note", "run"),
        )
        read_only_fields = fields


class PolicyRequestDetailSerializer(PolicyRequestSerializer):
    """One request with the numbers that were shown, and the steps the server allows its reader."""

    what_if = serializers.DictField(read_only=True)
    transitions = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta(PolicyRequestSerializer.Meta):
        fields = (*PolicyRequestSerializer.Meta.fields, "what_if", "transitions")
        read_only_fields = fields


class PolicyParamsSerializer(ReasonSerializer):
    """A request: SET needs level (and ttl), EXTEND days and until, HAND_OVER the new owner.

    WAIVE needs the path rule and the last day, and no table for a rule of a database itself.
    What the caller saw is sent along and compared: seen_level and seen_ttl, until, seen_owner.
    """

    kind = serializers.ChoiceField(choices=[one.value for one in RequestKind])
    db = serializers.CharField(max_length=128)
    table = serializers.CharField(max_length=256, required=False, allow_blank=True, default="")
    partition = PartitionField(required=False, default="")
    seen_level = serializers.IntegerField(required=False, allow_null=True, default=None)
    seen_ttl = serializers.IntegerField(required=False, allow_null=True, default=None)
    level = serializers.ChoiceField(choices=LEVELS, required=False)
    ttl = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=-(10**12), max_value=10**12
    )
    days = serializers.IntegerField(required=False, min_value=-(10**6), max_value=10**6)
    until = serializers.DateField(required=False)
    seen_owner = serializers.CharField(
        max_length=128, required=False, allow_blank=True, trim_whitespace=False, default=""
    )
    owner = serializers.CharField(max_length=128, required=False)
    rule = serializers.ChoiceField(choices=[one.value for one in Reason], required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Ask for what the kind needs."""
        needed = {
            RequestKind.SET.value: ("level",),
            RequestKind.EXTEND.value: ("days", "until"),
            RequestKind.HAND_OVER.value: ("owner",),
            RequestKind.WAIVE.value: ("rule", "until"),
        }[attrs["kind"]]
        missing = {name: ["This field is required."] for name in needed if name not in attrs}
        if missing:
            raise serializers.ValidationError(missing)
        return attrs


class PathRuleExceptionSerializer(OldNames, serializers.ModelSerializer[PathException]):
    """A rule that does not count for one table or database, until its last day."""

    old_names = {"reason": "rule", "why": "justification", "asked_by": "requested_by"}

    id = serializers.UUIDField(source="public_id", read_only=True)
    is_standing = serializers.BooleanField(read_only=True)
    approved_by = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = PathException
        fields: tuple[str, ...] = (
            *("id", "db", "table", "rule", "justification", "until", "requested_by", "approved_by"),
            *("granted_at", "request", "is_standing", "ended_at", "ended_by", "end_reason"),
        )
        read_only_fields = fields


class EnrollmentSerializer(serializers.ModelSerializer[Enrollment]):
    """An enrollment as a list shows it."""

    class Meta:
        model = Enrollment
        fields: tuple[str, ...] = (
            *("id", "state", "level", "ttl", "selection", "n_tables", "digest", "requested_by"),
            *("requesters", "reason", "created_at", "ended_at", "note", "run", "undo_run"),
        )
        read_only_fields = fields


class EnrollmentDetailSerializer(EnrollmentSerializer):
    """One enrollment with what would go and the steps the server allows its reader."""

    what_if = serializers.DictField(read_only=True)
    transitions = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta(EnrollmentSerializer.Meta):
        fields = (*EnrollmentSerializer.Meta.fields, "what_if", "transitions")
        read_only_fields = fields


class EnrollmentItemSerializer(serializers.ModelSerializer[EnrollmentItem]):
    """One table of an enrollment and what became of it."""

    class Meta:
        model = EnrollmentItem
        fields = (
            *("db", "table", "owner", "seen_level", "seen_ttl", "n_items", "n_now", "bytes_now"),
            *("n_soon", "n_unsure", "state", "note"),
        )
        read_only_fields = fields


class EnrollmentParamsSerializer(ReasonSerializer):
    """Which tables shall get which values; `n_tables` is how many the caller saw."""

    db = serializers.CharField(max_length=128, required=False, allow_blank=True, default="")
    table = serializers.CharField(max_length=256, required=False, allow_blank=True, default="")
    owner = serializers.CharField(max_length=128, required=False, allow_blank=True, default="")
    person = serializers.CharField(max_length=150, required=False, allow_blank=True, default="")
    what = serializers.ChoiceField(choices=("", "none", "forever"), required=False, default="")
    level = serializers.ChoiceField(choices=LEVELS)
    ttl = serializers.IntegerField(min_value=1, max_value=MAX_TTL_DAYS)
    n_tables = serializers.IntegerField(min_value=0, max_value=10**9)


class EnrollmentPreviewSerializer(serializers.Serializer[Any]):
    """What a choice of tables would mean."""

    n_tables = serializers.IntegerField(read_only=True)
    n_observed = serializers.IntegerField(read_only=True)
    most = serializers.IntegerField(read_only=True)
    outcome = OutcomeSerializer(read_only=True, allow_null=True)


class DryRunTableSerializer(serializers.Serializer[Any]):
    """One table's share of a shadow record."""

    table = serializers.CharField(read_only=True)
    gone = serializers.IntegerField(read_only=True)
    bytes_gone = serializers.IntegerField(read_only=True)
    written = serializers.IntegerField(read_only=True)
    read = serializers.IntegerField(read_only=True)
    first = serializers.DateField(read_only=True)
    last = serializers.DateField(read_only=True)


class DryRunSummarySerializer(serializers.Serializer[Any]):
    """What OBSERVE would have dropped in all, and what of it was used again."""

    n_days = serializers.IntegerField(read_only=True)
    since = serializers.DateField(read_only=True, allow_null=True)
    until = serializers.DateField(read_only=True, allow_null=True)
    n_gone = serializers.IntegerField(read_only=True)
    n_bytes_gone = serializers.IntegerField(read_only=True)
    n_written = serializers.IntegerField(read_only=True)
    n_read = serializers.IntegerField(read_only=True)
    n_used = serializers.IntegerField(read_only=True)
    percent_used = serializers.FloatField(read_only=True, allow_null=True)
    tables = DryRunTableSerializer(many=True, read_only=True)
