"""API by which engines tell of queries, which says what became of that, and what costs most."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from optimizer.iceberg.tables.api.reports import SCOPE, check_size
from optimizer.models import TopShape
from optimizer.queries.domain.spark_queries import MOST_QUERIES, SparkApplication, read_batch
from optimizer.queries.selectors import (
    SHAPE_ORDERS,
    TopShapeFilter,
    get_top_shape_for_user,
    queries_lately,
    top_shapes_visible,
)
from optimizer.queries.services.analysis import analysis_request
from optimizer.queries.services.taking import spark_queries_report, trino_query_report
from portal.played import instant
from portal.runs.models import Run
from portal.ui.api.operations import LAKE, ApiView, operation
from portal.ui.api.pages import KeysetList, Rows

MOST_BYTES = 2 * 1024**2
"""Of an event; those of queries with many stages have some hundred KiB."""
MOST_DROPPED = 10**12
_SPLIT = ". Send fewer queries at once."
_TOO_BIG = ". Leave such queries out, or have Trino send events of completed queries alone."


class TrinoEventSerializer(serializers.Serializer[Any]):
    """An event of a completed query, as Trino's HTTP event listener sends it."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields; `context` is a name that serializers have themselves."""
        return {
            "metadata": serializers.DictField(help_text="queryId, queryState, and the plan"),
            "context": serializers.DictField(required=False, help_text="queryType"),
            "ioMetadata": serializers.DictField(
                required=False, help_text="inputs, with their bytes and rows"
            ),
        }


class QueryTakenSerializer(serializers.Serializer[Any]):
    """What became of the event."""

    scans = serializers.IntegerField(
        read_only=True, help_text="places at which a known table was read"
    )
    unknown = serializers.IntegerField(
        read_only=True, help_text="places with a table that is not known, or none of yours"
    )
    repeated = serializers.BooleanField(
        read_only=True, help_text="this query was counted before; nothing was added"
    )
    unread = serializers.CharField(
        read_only=True, help_text="why its plan could not be read; empty where it could"
    )


class SparkApplicationSerializer(serializers.Serializer[Any]):
    """The driver that tells."""

    id = serializers.CharField(max_length=200)
    name = serializers.CharField(max_length=200, allow_blank=True, default="")
    user = serializers.CharField(max_length=200, allow_blank=True, default="")
    version = serializers.CharField(max_length=200, allow_blank=True, default="")


class SparkQueriesSerializer(serializers.Serializer[Any]):
    """Queries of one driver, as `lakewarden.reports.QueryListener` sends them."""

    application = SparkApplicationSerializer()
    has_scan_reports = serializers.BooleanField(
        default=False, help_text="whether the catalog posts its scans besides, as scan-reports"
    )
    dropped_before = serializers.IntegerField(
        min_value=0, max_value=MOST_DROPPED, default=0, help_text="of `dropped`, told of before"
    )
    dropped = serializers.IntegerField(
        min_value=0, max_value=MOST_DROPPED, default=0, help_text="queries lost since its start"
    )
    queries = serializers.ListField(child=serializers.DictField(), max_length=MOST_QUERIES)


class QueriesTakenSerializer(serializers.Serializer[Any]):
    """What became of the queries."""

    taken = serializers.IntegerField(read_only=True, help_text="counted now")
    repeated = serializers.IntegerField(
        read_only=True, help_text="counted before; nothing was added"
    )
    unread = serializers.IntegerField(
        read_only=True, help_text="counted, but their scans could not be read"
    )
    unknown = serializers.IntegerField(
        read_only=True, help_text="places with a table that is not known, or none of yours"
    )


class EngineQueriesSerializer(serializers.Serializer[Any]):
    """The queries of one engine in four weeks."""

    engine = serializers.CharField(read_only=True)
    n_queries = serializers.IntegerField(read_only=True, help_text="completed, each once")
    n_scans = serializers.IntegerField(read_only=True, help_text="of known tables")
    n_unknown = serializers.IntegerField(read_only=True, help_text="of tables that are not known")
    n_failed = serializers.IntegerField(read_only=True)
    n_unread = serializers.IntegerField(read_only=True, help_text="whose plan could not be read")
    n_repeated = serializers.IntegerField(read_only=True, help_text="events that came again")
    n_dropped = serializers.IntegerField(
        read_only=True, help_text="that the engine could not tell of: the portal was away too long"
    )
    n_not_kept = serializers.IntegerField(
        read_only=True, help_text="for which the lake's table of queries had no room on the disk"
    )
    unread = serializers.CharField(read_only=True, help_text="why, of the last unread one")
    n_unparsed = serializers.IntegerField(
        read_only=True, help_text="of whose text groups and aggregates could not be read"
    )
    unparsed = serializers.CharField(read_only=True, help_text="why, of the last such one")
    last_at = serializers.DateTimeField(read_only=True)


class TrinoQueries(ApiView):
    """Where Trino's events of completed queries are taken."""

    token_scope = SCOPE

    @operation(
        "optimizer_report_query", body=TrinoEventSerializer, answer=QueryTakenSerializer, status=202
    )
    def post(self, lake: str, catalog: str) -> object:
        """Add what a query scanned to the sums of its tables; no text and no constant is kept."""
        check_size(self.request, what="event", most=MOST_BYTES, hint=_TOO_BIG)
        return trino_query_report(lake, self.data, catalog=catalog, user=self.user, now=instant())


class SparkQueries(ApiView):
    """Where a Spark driver tells of its queries."""

    token_scope = SCOPE

    @operation(
        "optimizer_report_spark_queries",
        body=SparkQueriesSerializer,
        answer=QueriesTakenSerializer,
        status=202,
    )
    def post(self, lake: str, catalog: str) -> object:
        """Add what queries scanned to the sums of their tables; no text and no constant is kept."""
        check_size(self.request, what="batch of queries", most=MOST_BYTES, hint=_SPLIT)
        said = self.data
        application = SparkApplication(
            **said["application"], has_scan_reports=said["has_scan_reports"]
        )
        batch = read_batch(
            said["queries"],
            application=application,
            catalog=catalog,
            dropped=(said["dropped_before"], said["dropped"]),
        )
        return spark_queries_report(lake, batch, user=self.user, now=instant())


class EngineQueries(ApiView):
    """Queries that engines told of."""

    @operation("optimizer_queries", answer=EngineQueriesSerializer, many=True, parameters=LAKE)
    def get(self) -> object:
        """Return how many queries each engine told of in four weeks, and what became of them."""
        return queries_lately(self.lake, now=timezone.now())


SHAPE_FIELDS: tuple[str, ...] = (
    *("lake", "digest", "engine", "text", "is_parsed", "n_queries", "n_failed", "seconds"),
    *("p50", "p95", "seconds_lately", "seconds_before", "n_bytes", "share", "is_helped"),
    *("tables", "last_at", "analysed_at"),
)


class TopShapeSerializer(serializers.ModelSerializer[TopShape]):
    """A shape of queries that costs much; its text holds no constant."""

    tables = serializers.StringRelatedField[Any](many=True, read_only=True)

    class Meta:
        model = TopShape
        fields = SHAPE_FIELDS
        read_only_fields = fields


class TopShapeDetailSerializer(TopShapeSerializer):
    """The same with its numbers by day."""

    class Meta(TopShapeSerializer.Meta):
        fields = (*SHAPE_FIELDS, "days")
        read_only_fields = fields


class AnalysisRunSerializer(serializers.ModelSerializer[Run]):
    """The run that analyses recorded queries."""

    class Meta:
        model = Run
        fields = ("id", "state", "result", "error")
        read_only_fields = fields


class TopShapes(KeysetList):
    """Shapes of queries that cost most."""

    operation_id = "optimizer_top_shapes"
    serializer_class = TopShapeSerializer
    filterset_class = TopShapeFilter
    orders = SHAPE_ORDERS

    def get_queryset(self) -> Rows:
        """List the shapes that took most time in four weeks, of which you see all tables."""
        return top_shapes_visible(self.lake, self.user)


class TopShapeDetail(ApiView):
    """One shape."""

    @operation("optimizer_top_shape", answer=TopShapeDetailSerializer, parameters=LAKE)
    def get(self, digest: str) -> object:
        """Return a shape with its numbers by day."""
        return get_top_shape_for_user(self.lake, digest, self.user)


class Analysis(ApiView):
    """Asking for the analysis."""

    @operation(
        "optimizer_top_shapes_analyse", answer=AnalysisRunSerializer, status=202, parameters=LAKE
    )
    def post(self) -> object:
        """Analyse the recorded queries now; while that runs, the same run is returned."""
        return analysis_request(self.lake, user=self.user, now=timezone.now())
