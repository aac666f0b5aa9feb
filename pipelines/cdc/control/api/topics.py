"""Pipelines of topics by API: test, create and edit; all else is as of any pipeline."""

from django.utils import timezone
from rest_framework import serializers

from pipelines.cdc.control.api.pipelines import actor, as_it_is
from pipelines.cdc.control.api.serializers import (
    KafkaSerializer,
    PipelineSerializer,
    SourceTestSerializer,
)
from pipelines.cdc.control.domain.spec import MOST_PATTERNS, TableType, topics_spec
from pipelines.cdc.control.selectors.pipelines import check_some_staff, get_pipeline_for_user
from pipelines.cdc.control.services.pipelines import fixed_of, pipeline_create, pipeline_edit
from pipelines.cdc.control.services.testing import checked_source, source_test
from portal.access.roles.domain import ALL_LAKES
from portal.ui.api.operations import ApiView, operation


class ColumnSerializer(serializers.Serializer[object]):
    """A declared column, with the lake's type."""

    name = serializers.CharField(max_length=128, trim_whitespace=False)
    type = serializers.CharField(max_length=20, help_text="string, bigint, decimal(12,2) ...")


class TopicsSerializer(serializers.Serializer[object]):
    """The brokers, the log-in and the topics."""

    kafka = KafkaSerializer()
    patterns = serializers.ListField(
        child=serializers.CharField(max_length=200), max_length=MOST_PATTERNS, allow_empty=False
    )


class TopicsParamsSerializer(TopicsSerializer):
    """A pipeline of topics to create or to test."""

    name = serializers.CharField(max_length=32, trim_whitespace=False)
    lake = serializers.CharField(max_length=32)
    target_db = serializers.CharField(max_length=128)
    table_type = serializers.ChoiceField([one.value for one in TableType])
    columns = ColumnSerializer(many=True)


class TopicsEditSerializer(TopicsSerializer):
    """What a pipeline of topics is to have instead."""

    version = serializers.IntegerField(min_value=0, help_text="of the pipeline as you read it")


class TopicsCreate(ApiView):
    """Creating a pipeline of topics."""

    @operation(
        "pipelines_topics_create",
        body=TopicsParamsSerializer,
        answer=PipelineSerializer,
        status=201,
    )
    def post(self) -> object:
        """Test topics and create their pipeline (admins, with a fresh log-in)."""
        check_some_staff(self.user)
        spec = topics_spec(self.data)
        by = actor(self.request, ALL_LAKES)
        checked_source(spec, by=by)
        return pipeline_create(spec, by=by, now=timezone.now())


class TopicsTest(ApiView):
    """Testing topics."""

    @operation("pipelines_topics_test", body=TopicsParamsSerializer, answer=SourceTestSerializer)
    def post(self) -> object:
        """Test topics; nothing is stored (admins, with a fresh log-in)."""
        check_some_staff(self.user)
        spec = topics_spec(self.data)
        return source_test(spec, by=actor(self.request, ALL_LAKES))


class TopicsEdit(ApiView):
    """Changing a pipeline of topics."""

    @operation("pipelines_topics_edit", body=TopicsEditSerializer, answer=PipelineSerializer)
    def post(self, name: str) -> object:
        """Test other brokers or topics and keep them; 409 = it was changed since."""
        found = get_pipeline_for_user(name, user=self.user)
        by = actor(self.request, ALL_LAKES)
        data = self.data
        spec = topics_spec({**fixed_of(found), **data})
        checked_source(spec, by=by)
        pipeline_edit(found, spec, version=data["version"], by=by, now=timezone.now())
        return as_it_is(found)
