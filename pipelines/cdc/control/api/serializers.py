"""Serializers of pipelines."""

from typing import Any, ClassVar

from rest_framework import serializers

from pipelines.cdc.changes.domain.kafka_place import MECHANISMS
from pipelines.cdc.control.domain.spec import (
    MOST_PATTERNS,
    MOST_SERVER_ID,
    ChangelogKind,
    TableType,
)
from pipelines.models import CapturedTable, Pipeline


class KafkaSerializer(serializers.Serializer[object]):
    """Where the topics of Kafka are, and the log-in there."""

    servers = serializers.CharField(max_length=1000, help_text="host:port, several between commas")
    topic = serializers.CharField(
        max_length=200, allow_blank=True, default="", help_text="of the changelog; it stays"
    )
    user = serializers.CharField(
        max_length=80, allow_blank=True, default="", help_text="empty: without a log-in by SASL"
    )
    password_name = serializers.CharField(
        max_length=64,
        allow_blank=True,
        default="",
        help_text="KAFKA for the file KAFKA, or the variable LAKEWARDEN_CDC_PASSWORD_KAFKA",
    )
    mechanism = serializers.ChoiceField(MECHANISMS, default=MECHANISMS[0])
    ssl_ca = serializers.CharField(
        max_length=1024, allow_blank=True, default="", help_text="a PEM file; empty: without TLS"
    )


class ServerSerializer(serializers.Serializer[object]):
    """The server, the log-in and the tables of a pipeline."""

    host = serializers.CharField(max_length=253)
    port = serializers.IntegerField(min_value=1, max_value=65535)
    user = serializers.CharField(max_length=80, trim_whitespace=False)
    password_name = serializers.CharField(
        max_length=64,
        help_text="SHOP for the file SHOP, or the variable LAKEWARDEN_CDC_PASSWORD_SHOP",
    )
    ssl_ca = serializers.CharField(max_length=1024, allow_blank=True, default="")
    server_id = serializers.IntegerField(min_value=1, max_value=MOST_SERVER_ID)
    patterns = serializers.ListField(
        child=serializers.CharField(max_length=200), max_length=MOST_PATTERNS, allow_empty=False
    )
    protections = serializers.DictField(
        child=serializers.DictField(child=serializers.CharField(max_length=80)),
        required=False,
        help_text='protection by column, by table: {"shop.users": {"phone": "encrypted:PII"}}',
    )
    partitions = serializers.DictField(
        child=serializers.CharField(max_length=256),
        required=False,
        help_text='partition column by table: {"shop.orders": "created_on"}',
    )
    kafka = KafkaSerializer(required=False, help_text="only where the changelog is in Kafka")


class PipelineParamsSerializer(ServerSerializer):
    """A pipeline to create or to test."""

    name = serializers.CharField(max_length=32, trim_whitespace=False)
    lake = serializers.CharField(max_length=32)
    target_db = serializers.CharField(max_length=128)
    table_type = serializers.ChoiceField([one.value for one in TableType])
    changelog = serializers.ChoiceField([one.value for one in ChangelogKind])


class PipelineEditSerializer(ServerSerializer):
    """What a pipeline is to have instead."""

    version = serializers.IntegerField(min_value=0, help_text="of the pipeline as you read it")


class DeletePipelineSerializer(serializers.Serializer[object]):
    """Why a pipeline is deleted."""

    reason = serializers.CharField(max_length=1000)
    typed = serializers.CharField(max_length=32, help_text="the pipeline's name")


class ColumnChoiceSerializer(serializers.Serializer[object]):
    """How the lake may have a column."""

    column = serializers.CharField(max_length=256, trim_whitespace=False)
    choice = serializers.CharField(
        max_length=80, help_text="refused, or a protection: plain, encrypted:PII"
    )
    reason = serializers.CharField(max_length=1000)


class TableProtectSerializer(serializers.Serializer[object]):
    """How the columns of a table are protected, and by what it is partitioned."""

    protections = serializers.DictField(
        child=serializers.CharField(max_length=80), help_text="by column; others become plain"
    )
    partition = serializers.CharField(
        max_length=256, allow_blank=True, trim_whitespace=False, help_text="empty: by none"
    )
    reason = serializers.CharField(max_length=1000)


class FindingSerializer(serializers.Serializer[object]):
    """One thing that was tested."""

    code = serializers.CharField(read_only=True)
    level = serializers.CharField(read_only=True, help_text="ok, warning or error")
    message = serializers.CharField(read_only=True)
    remedy = serializers.CharField(read_only=True, help_text="what to run; empty: nothing")


class SourceTestSerializer(serializers.Serializer[object]):
    """What a test of a source found."""

    is_good = serializers.BooleanField(read_only=True)
    findings = FindingSerializer(many=True, read_only=True)


class PipelineSerializer(serializers.ModelSerializer[Pipeline]):
    """A pipeline."""

    class Meta:
        model = Pipeline
        fields: ClassVar[list[str]] = [
            *("name", "lake", "host", "port", "user", "password_name", "ssl_ca", "server_id"),
            *("patterns", "protections", "partitions"),
            *("target_db", "table_type", "changelog", "epoch"),
            *("desired", "desired_by", "desired_at", "desired_reason", "version"),
            *("created_by", "created_at", "heard_at", "position", "position_at"),
            *("seconds_behind", "rows_per_second", "n_rows", "batch"),
            *("problem_code", "problem", "apply_problem", "kafka", "n_unreadable"),
        ]
        read_only_fields = fields


class PipelineRowSerializer(PipelineSerializer):
    """A pipeline in the list, with how it is."""

    state = serializers.CharField(read_only=True, source="stands.state")
    n_tables = serializers.IntegerField(read_only=True, source="stands.n_tables")
    n_troubled = serializers.IntegerField(
        read_only=True, source="stands.n_troubled", help_text="tables that wait for a person"
    )
    n_quarantined = serializers.IntegerField(read_only=True, source="stands.n_quarantined")
    data_at = serializers.DateTimeField(read_only=True, allow_null=True, source="stands.data_at")

    class Meta(PipelineSerializer.Meta):
        fields: ClassVar[list[str]] = [
            *PipelineSerializer.Meta.fields,
            *("state", "n_tables", "n_troubled", "n_quarantined", "data_at"),
        ]
        read_only_fields = fields


class CapturedTableSerializer(serializers.ModelSerializer[CapturedTable]):
    """A captured table with how it is."""

    state = serializers.CharField(read_only=True, source="stands.state")
    target = serializers.CharField(read_only=True)

    class Meta:
        model = CapturedTable
        fields: ClassVar[list[str]] = [
            *("id", "db", "table", "target", "state", "key", "desired", "refused", "schema_number"),
            *("n_loaded", "loaded_at", "problem_code", "problem"),
            *("protections", "partition_column"),
            *("applied_batch", "applied_position", "applied_at", "data_at"),
            *("n_upserts", "n_deletes", "n_late", "n_quarantined", "n_aside"),
        ]
        read_only_fields = fields


class PipelineDetailSerializer(serializers.Serializer[Any]):
    """A pipeline with how it is."""

    pipeline = PipelineSerializer(read_only=True)
    state = serializers.CharField(read_only=True)
    n_tables = serializers.IntegerField(read_only=True)
    n_troubled = serializers.IntegerField(read_only=True)
