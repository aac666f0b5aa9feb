"""Serializers of clusters."""

from typing import Any, ClassVar

from rest_framework import serializers

from portal.ui.api.old_names import OldNames
from refresh.clusters.services.trial import MOST_ADDRESSES
from refresh.models import Cluster, ClusterCatalog, DeclaredTable


class ClusterParamsSerializer(serializers.Serializer[object]):
    """How a cluster is reached."""

    addresses = serializers.ListField(
        child=serializers.CharField(max_length=300), max_length=MOST_ADDRESSES, allow_empty=False
    )
    user = serializers.CharField(max_length=128, trim_whitespace=False)
    password_file = serializers.CharField(max_length=1024, trim_whitespace=False)


class ClusterAddSerializer(ClusterParamsSerializer):
    """A cluster to take in."""

    name = serializers.CharField(max_length=32, trim_whitespace=False)


class ClusterEditSerializer(ClusterParamsSerializer):
    """Another way to reach a cluster that is kept."""

    version = serializers.IntegerField(min_value=0, help_text="of the cluster as you read it")


class ReachedSerializer(serializers.Serializer[object]):
    """A front end that was tried."""

    place = serializers.CharField(read_only=True)
    words = serializers.CharField(read_only=True, help_text="empty: it let us in")
    name = serializers.CharField(read_only=True)
    is_leader = serializers.BooleanField(read_only=True)


class StandsForSerializer(serializers.Serializer[object]):
    """A catalog or resource and its lake."""

    name = serializers.CharField(read_only=True)
    uris = serializers.CharField(read_only=True)
    lake = serializers.CharField(read_only=True, help_text="empty: no lake here has it")


class TrialSerializer(serializers.Serializer[object]):
    """What a trial found."""

    is_good = serializers.BooleanField(read_only=True)
    version = serializers.CharField(read_only=True)
    dialect = serializers.CharField(read_only=True, allow_null=True)
    rights = serializers.DictField(child=serializers.CharField(), read_only=True)
    reached = ReachedSerializer(many=True, read_only=True)
    stands_for = StandsForSerializer(many=True, read_only=True)
    problems = serializers.ListField(child=serializers.CharField(), read_only=True)
    warnings = serializers.ListField(child=serializers.CharField(), read_only=True)


class ClusterSerializer(OldNames, serializers.ModelSerializer[Cluster]):
    """A cluster."""

    old_names = {
        "giants_hours": "large_table_window",
        "paused_why": "paused_reason",
        "read_asked_at": "read_requested_at",
    }

    class Meta:
        model = Cluster
        fields: ClassVar[list[str]] = [
            *("name", "addresses", "user", "password_file", "per_fe", "per_catalog"),
            *("large_table_window", "is_paused"),
            *("paused_by", "paused_at", "paused_reason", "read_at", "names_read_at"),
            *("read_requested_at", "problem"),
            *("added_by", "added_at", "version"),
        ]
        read_only_fields = fields


class ClusterRowSerializer(ClusterSerializer):
    """A cluster in the list, with how it stands."""

    state = serializers.CharField(read_only=True, source="stands.state")
    front_ends = serializers.CharField(read_only=True, source="stands.front_ends")
    n_catalogs = serializers.IntegerField(read_only=True)
    n_declared = serializers.IntegerField(read_only=True)
    n_drifted = serializers.IntegerField(read_only=True)

    class Meta(ClusterSerializer.Meta):
        fields: ClassVar[list[str]] = [
            *ClusterSerializer.Meta.fields,
            *("state", "front_ends", "n_catalogs", "n_declared", "n_drifted"),
        ]
        read_only_fields = fields


class FrontEndSerializer(serializers.Serializer[Any]):
    """A front end of a cluster."""

    name = serializers.CharField(source="fe.name", read_only=True)
    place = serializers.CharField(read_only=True)
    state = serializers.CharField(read_only=True, help_text="ALIVE, COLD, FROZEN or DEAD")
    breaker = serializers.CharField(read_only=True)
    is_leader = serializers.BooleanField(source="fe.is_leader", read_only=True)
    version = serializers.CharField(source="fe.version", read_only=True)
    error = serializers.CharField(source="fe.error", read_only=True)
    start = serializers.CharField(source="fe.start", read_only=True)
    empty_after = serializers.DateTimeField(source="fe.empty_after", read_only=True)
    contact = serializers.CharField(source="fe.contact", read_only=True)
    contact_at = serializers.DateTimeField(source="fe.contact_at", read_only=True)
    listed_at = serializers.DateTimeField(source="fe.listed_at", read_only=True)
    config = serializers.JSONField(source="fe.config", read_only=True)
    config_at = serializers.DateTimeField(source="fe.config_at", read_only=True)


class CatalogSerializer(serializers.ModelSerializer[ClusterCatalog]):
    """A catalog and its lake."""

    class Meta:
        model = ClusterCatalog
        fields: ClassVar[list[str]] = ["name", "uris", "lake"]
        read_only_fields = fields


class JudgedSerializer(OldNames, serializers.Serializer[Any]):
    """A setting that works against the portal, or does nothing."""

    old_names = {
        "why": "reason",
    }

    catalog = serializers.CharField(source="setting.catalog", read_only=True)
    key = serializers.CharField(source="setting.key", read_only=True)
    value = serializers.CharField(source="setting.value", read_only=True)
    effect = serializers.CharField(source="setting.effect", read_only=True)
    reason = serializers.CharField(source="setting.reason", read_only=True)
    front_ends = serializers.ListField(child=serializers.CharField(), read_only=True)


class ClusterDetailSerializer(serializers.Serializer[Any]):
    """A cluster with everything that its page shows."""

    cluster = ClusterSerializer(read_only=True)
    state = serializers.CharField(read_only=True)
    front_ends = FrontEndSerializer(many=True, read_only=True)
    catalogs = CatalogSerializer(many=True, read_only=True)
    declared = serializers.DictField(child=serializers.IntegerField(), read_only=True)
    settings = JudgedSerializer(many=True, read_only=True)


class DeclaredSerializer(serializers.ModelSerializer[DeclaredTable]):
    """A table on a resource."""

    state = serializers.CharField(read_only=True)

    class Meta:
        model = DeclaredTable
        fields: ClassVar[list[str]] = [
            *("db", "table", "resource", "lake", "hive_db", "hive_table", "columns", "drift"),
            *("drift_at", "state"),
        ]
        read_only_fields = fields


class ClusterLimitsSerializer(OldNames, serializers.Serializer[object]):
    """How many statements may run at once."""

    old_names = {"giants_hours": "large_table_window"}

    per_fe = serializers.IntegerField(min_value=0, max_value=10_000)
    per_catalog = serializers.IntegerField(min_value=0, max_value=10_000)
    large_table_window = serializers.CharField(max_length=200, allow_blank=True, default="")


class RemoveSerializer(serializers.Serializer[object]):
    """Why a cluster is given up, and its name once more."""

    reason = serializers.CharField(max_length=1000)
    typed = serializers.CharField(max_length=32)
