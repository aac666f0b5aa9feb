"""API of narrowing a query: give it, and fetch it narrowed."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers

from optimizer.pruning.domain import SCOPE
from optimizer.pruning.domain.queries import DIALECTS, MOST_TEXT
from optimizer.pruning.selectors import get_pruned_query
from optimizer.pruning.services import DEFAULT_FILES, MOST_FILES, PruneRequest, prune_request
from portal.runs.models import Run
from portal.ui.api.operations import LAKE, ApiView, operation


class PruneRequestSerializer(serializers.Serializer[Any]):
    """A query, and how it is to be narrowed."""

    sql = serializers.CharField(max_length=MOST_TEXT, help_text="one SELECT")
    dialect = serializers.CharField(
        max_length=20, default="trino", help_text=f"one of: {', '.join(DIALECTS)}"
    )
    max_files = serializers.IntegerField(
        min_value=1,
        max_value=MOST_FILES,
        default=DEFAULT_FILES,
        help_text="a table of which more files are left is read as before",
    )
    catalog = serializers.CharField(
        max_length=200,
        default="",
        allow_blank=True,
        help_text="the engine's name of this lake; tables of other catalogs are read as before",
    )
    schema = serializers.CharField(
        max_length=200,
        default="",
        allow_blank=True,
        help_text="the session's schema, for names without a database",
    )


class PrunedTableSerializer(serializers.Serializer[Any]):
    """What became of one place where the query reads a table."""

    number = serializers.IntegerField(help_text="counts the places, from 0")
    table = serializers.CharField()
    alias = serializers.CharField()
    snapshot = serializers.IntegerField(allow_null=True)
    condition = serializers.CharField(help_text="what was asked of its files, in Spark SQL")
    n_files = serializers.IntegerField(help_text="data files that Iceberg's own planning leaves")
    n_bytes = serializers.IntegerField()
    n_kept = serializers.IntegerField()
    kept_bytes = serializers.IntegerField()
    dropped = serializers.DictField(
        child=serializers.IntegerField(), help_text="index -> data files that it left out"
    )
    unused = serializers.DictField(
        child=serializers.IntegerField(), help_text="why an index was not used -> data files"
    )
    keys = serializers.ListField(
        child=serializers.CharField(), default=list, help_text="what joins asked of its files"
    )
    whole = serializers.CharField(help_text="why the table is read as before; empty: it is not")


class PrunedQuerySerializer(serializers.ModelSerializer[Run]):
    """A query, and the same query narrowed to files once its run is done."""

    sql = serializers.CharField(source="params.sql", read_only=True)
    dialect = serializers.CharField(source="params.dialect", read_only=True)
    max_files = serializers.IntegerField(source="params.max_files", read_only=True)
    narrowed = serializers.SerializerMethodField()
    tables = serializers.SerializerMethodField()

    class Meta:
        model = Run
        fields = ("id", "state", "sql", "dialect", "max_files", "narrowed", "tables", "error")
        read_only_fields = fields

    def get_narrowed(self, run: Run) -> str | None:
        """Return the query to be run instead; null until it is there."""
        return (run.result or {}).get("sql")

    def get_tables(self, run: Run) -> list[dict[str, Any]]:
        """Return what became of each use of a table."""
        rows = (run.result or {}).get("tables", [])
        return [dict(one) for one in PrunedTableSerializer(rows, many=True).data]


class PruneList(ApiView):
    """Giving a query."""

    token_scope = SCOPE

    @operation(
        "optimizer_prune",
        body=PruneRequestSerializer,
        answer=PrunedQuerySerializer,
        status=202,
        parameters=LAKE,
    )
    def post(self) -> object:
        """Have a query of any engine narrowed to the data files that its conditions can match."""
        wanted = PruneRequest(**self.data)
        return prune_request(self.lake, wanted, user=self.user, now=timezone.now())


class PruneDetail(ApiView):
    """One query."""

    token_scope = SCOPE

    @operation("optimizer_prune_get", answer=PrunedQuerySerializer)
    def get(self, run_id: UUID) -> object:
        """Return the query narrowed; `narrowed` is null while the run is under way."""
        return get_pruned_query(run_id, user=self.user)
