"""API by which readers of tables report what file indexes and cubes saved: counts, no value."""

from typing import Any

from rest_framework import serializers

from optimizer.cubes.domain.readers import Engine
from optimizer.cubes.services.uses import CubeReader, ReportedAnswers
from optimizer.iceberg.indexing.services.uses import ReportedUse
from optimizer.iceberg.tables.api.reports import SCOPE, check_size
from optimizer.indexes.domain.envelope import Kind
from optimizer.usage.services import ReportMark, TableUse, uses_report
from portal.played import instant
from portal.ui.api.operations import ApiView, operation

MOST_TABLES = 256
MOST_USES = 64
_MOST = 2**40
_MOST_BYTES = 2**53
_MOST_SECONDS = 10**9


class ReportedUseSerializer(serializers.Serializer[Any]):
    """One index of a column."""

    column = serializers.CharField(max_length=512)
    kind = serializers.ChoiceField([kind.value for kind in Kind])
    plans = serializers.IntegerField(min_value=1, max_value=_MOST)
    files = serializers.IntegerField(min_value=0, max_value=_MOST)
    bytes = serializers.IntegerField(min_value=0, max_value=_MOST_BYTES)


class ReportedAnswersSerializer(serializers.Serializer[Any]):
    """One cube, with the queries that were answered from it."""

    cube = serializers.CharField(max_length=40, help_text="its name within the table")
    queries = serializers.IntegerField(min_value=1, max_value=_MOST)
    rows = serializers.IntegerField(
        min_value=0, max_value=_MOST_BYTES, help_text="of the table, not read: the cube covers them"
    )
    bytes = serializers.IntegerField(
        min_value=0, max_value=_MOST_BYTES, help_text="of the data files that hold those rows"
    )
    fresh_rows = serializers.IntegerField(
        min_value=0, max_value=_MOST_BYTES, help_text="of the table, aggregated afresh"
    )
    cube_rows = serializers.IntegerField(
        min_value=0, max_value=_MOST_BYTES, help_text="of the cube, at most, in their place"
    )
    cube_bytes = serializers.IntegerField(
        min_value=0, max_value=_MOST_BYTES, help_text="of the cube's files, at most"
    )
    timed = serializers.IntegerField(
        default=0, min_value=0, max_value=_MOST, help_text="queries whose seconds are known"
    )
    seconds = serializers.FloatField(
        default=0.0, min_value=0, max_value=_MOST_SECONDS, help_text="of those queries together"
    )


class TableUsesSerializer(serializers.Serializer[Any]):
    """The indexes and cubes of one table."""

    table_uuid = serializers.UUIDField(help_text="Iceberg's own")
    indexes = serializers.ListField(
        child=ReportedUseSerializer(), max_length=MOST_USES, required=False
    )
    cubes = serializers.ListField(
        child=ReportedAnswersSerializer(), max_length=MOST_USES, required=False
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a table of which nothing is said, as a misspelt field would be."""
        if "indexes" not in attrs and "cubes" not in attrs:
            raise serializers.ValidationError("Name `indexes` or `cubes` of the table.")
        return attrs


class ReaderSerializer(serializers.Serializer[Any]):
    """Which program read."""

    engine = serializers.ChoiceField([one.value for one in Engine])
    application = serializers.CharField(max_length=200, allow_blank=True, default="")
    user = serializers.CharField(max_length=150, allow_blank=True, default="")


class UseReportSerializer(serializers.Serializer[Any]):
    """What one reader's queries did since its last report."""

    reader = ReaderSerializer(required=False)
    sender = serializers.UUIDField(
        required=False, help_text="chosen by the program when it started"
    )
    sequence = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=_MOST_BYTES,
        help_text="grows with each report; with it and `sender`, a report sent twice counts once",
    )
    tables = serializers.ListField(child=TableUsesSerializer(), max_length=MOST_TABLES)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse half a mark, which would count a repeated report twice without saying so."""
        if ("sender" in attrs) != ("sequence" in attrs):
            raise serializers.ValidationError("Give `sender` and `sequence` together, or neither.")
        return attrs


class UsesTakenSerializer(serializers.Serializer[Any]):
    """What was added to the sums."""

    taken = serializers.IntegerField(read_only=True)
    ignored = serializers.IntegerField(
        read_only=True, help_text="of tables, indexes or cubes that are not known"
    )
    repeated = serializers.BooleanField(
        read_only=True, help_text="this report was taken before; nothing was added"
    )


class UseReports(ApiView):
    """Where reports of the use of indexes and cubes are taken."""

    token_scope = SCOPE

    @operation("optimizer_report_indexes", body=UseReportSerializer, answer=UsesTakenSerializer)
    def post(self, lake: str) -> object:
        """Add what indexes dropped and cubes answered to the sums of today."""
        now = instant()
        check_size(self.request)
        said = self.data
        mark = ReportMark(said["sender"], said["sequence"]) if "sender" in said else None
        reader = CubeReader(**said.get("reader", {"engine": Engine.SPARK.value}))
        tables = [_table(one) for one in said["tables"]]
        return uses_report(lake, tables, reader=reader, mark=mark, user=self.user, now=now)


def _table(said: dict[str, Any]) -> TableUse:
    return TableUse(
        str(said["table_uuid"]),
        tuple(
            ReportedUse(use["column"], use["kind"], use["plans"], use["files"], use["bytes"])
            for use in said.get("indexes", ())
        ),
        tuple(
            ReportedAnswers(
                one["cube"],
                n_queries=one["queries"],
                n_rows=one["rows"],
                n_bytes=one["bytes"],
                n_fresh_rows=one["fresh_rows"],
                n_cube_rows=one["cube_rows"],
                n_cube_bytes=one["cube_bytes"],
                n_timed=one["timed"],
                seconds=one["seconds"],
            )
            for one in said.get("cubes", ())
        ),
    )
