"""API of answering a query from cubes and materializations."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from optimizer.matching.domain.reading import DIALECTS, MOST_TEXT
from optimizer.rewriting.domain.answers import MOST_FILES
from optimizer.rewriting.domain.session import Session
from optimizer.rewriting.services.answering import (
    MOST_AGE_SECONDS,
    MOST_FILES_LISTED,
    MOST_LAG_SECONDS,
    Asked,
    Rewriting,
    rewrite_query,
)
from portal.ui.api.operations import LAKE, ApiView, operation


class RewriteRequestSerializer(serializers.Serializer[Any]):
    """A query, and what its session says."""

    sql = serializers.CharField(max_length=MOST_TEXT, help_text="one SELECT", trim_whitespace=False)
    dialect = serializers.ChoiceField(choices=list(DIALECTS.items()), default="trino")
    catalog = serializers.CharField(
        max_length=255, default="", allow_blank=True, help_text="of names without a catalog"
    )
    schema = serializers.CharField(
        max_length=255, default="", allow_blank=True, help_text="of names without a database"
    )
    catalogs = serializers.ListField(
        child=serializers.CharField(max_length=255),
        max_length=50,
        default=list,
        help_text="the engine's catalogs that are this lake; empty: whatever the query names",
    )
    time_zone = serializers.CharField(
        max_length=64,
        default="",
        allow_blank=True,
        help_text="of the session; Spark's alone counts",
    )
    max_files = serializers.IntegerField(
        min_value=1,
        max_value=MOST_FILES_LISTED,
        default=MOST_FILES,
        help_text="a cube that does not cover more files is not used",
    )
    max_age_seconds = serializers.IntegerField(
        min_value=0,
        max_value=MOST_AGE_SECONDS,
        default=0,
        help_text="so old may the snapshots be; 0: the newest that the metastore knows",
    )

    max_lag_seconds = serializers.IntegerField(
        min_value=0,
        max_value=MOST_LAG_SECONDS,
        required=False,
        allow_null=True,
        default=None,
        help_text="so much older than its tables may a materialization be; null: its own limit",
    )


class RewriteCubeSerializer(serializers.Serializer[Any]):
    """Whether a cube, or a materialization, answers a SELECT."""

    cube = serializers.CharField()
    table = serializers.CharField(help_text="the cube's own table")
    used = serializers.BooleanField()
    rule = serializers.CharField(help_text="the first rule that failed; empty: none")
    reason = serializers.CharField()


class RewriteBlockSerializer(serializers.Serializer[Any]):
    """What became of one aggregating SELECT of the query."""

    text = serializers.CharField()
    tables = serializers.ListField(child=serializers.CharField())
    used = serializers.CharField(help_text="the table of the cube that answers it; empty: none")
    reason = serializers.CharField(help_text="why no cube was asked at all")
    cubes = RewriteCubeSerializer(many=True)
    figures = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="files, bytes and rows of the table; fresh_* of them that are read all the same; "
        "cube_bytes and cube_rows of the whole cube",
    )


class RewriteSerializer(serializers.Serializer[Any]):
    """A query, and the same query answered from cubes."""

    state = serializers.CharField(help_text="DONE; WAITING: ask again in some seconds; FAILED")
    run = serializers.UUIDField(allow_null=True, help_text="the run that reads the tables")
    error = serializers.JSONField(allow_null=True, help_text="of that run, where it failed")
    sql = serializers.CharField()
    dialect = serializers.CharField()
    is_rewritten = serializers.BooleanField()
    rewritten = serializers.CharField(
        allow_null=True, help_text="the query to be run instead; null until it is there"
    )
    reason = serializers.CharField(help_text="why nothing was rewritten, of the query as a whole")
    blocks = RewriteBlockSerializer(many=True)


def answer_of(found: Rewriting) -> dict[str, Any]:
    """Return what API and page show."""
    none: dict[str, Any] = {"is_rewritten": False, "rewritten": None, "reason": "", "blocks": []}
    return {
        "state": found.state,
        "run": None if found.run is None else found.run.pk,
        "error": found.run.error if found.run is not None and found.state == "FAILED" else None,
        "sql": found.asked.sql,
        "dialect": found.asked.session.dialect,
        **(none if found.answer is None else found.answer.to_json()),
    }


class RewriteQuery(ApiView):
    """Giving a query."""

    @operation(
        "optimizer_rewrite",
        body=RewriteRequestSerializer,
        answer=RewriteSerializer,
        parameters=LAKE,
    )
    def post(self) -> object:
        """Return a query of any engine answered from cubes, where that is the same for sure."""
        data = self.data
        session = Session(
            data["dialect"],
            data["schema"],
            data["catalog"],
            frozenset(one.lower() for one in data["catalogs"]),
            data["time_zone"],
        )
        asked = Asked.of(
            data["sql"],
            session,
            max_files=data["max_files"],
            max_age=data["max_age_seconds"],
            max_lag=data["max_lag_seconds"],
        )
        found = rewrite_query(self.lake, asked, user=self.user, now=timezone.now())
        return answer_of(found)
