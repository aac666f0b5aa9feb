"""API of cubes: what is defined and covered, and what people ask of them."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers

from optimizer.cubes.domain.drafts import Draft
from optimizer.cubes.selectors import (
    BUILD_ORDERS,
    COVERAGE_ORDERS,
    CUBE_ORDERS,
    USE_ORDERS,
    VERSION_ORDERS,
    CubeFilter,
    builds_of,
    coverage_of,
    cubes_visible,
    get_cube_for_user,
    uses_of,
    version_of,
    versions_of,
)
from optimizer.cubes.services.definitions import cube_change, cube_define, cube_rebuild
from optimizer.cubes.services.estimates import estimate_request, get_estimate
from optimizer.cubes.services.upkeep import cube_drop, cube_pause, cube_resume
from optimizer.iceberg.tables.selectors.tables import get_table_for_user
from optimizer.models import Cube, CubeBuild, CubeCoverage, CubeUse, CubeVersion
from portal.runs.models import Run
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.serializers import ReasonSerializer

CUBE_FIELDS: tuple[str, ...] = (
    *("id", "lake", "table_id", "table", "name", "cube_table", "state", "version"),
    *("created_by", "created_at", "state_by", "state_at", "state_reason"),
    *("built_at", "built_version", "snapshot_id", "cube_snapshot_id", "n_files"),
    *("n_covered", "n_rows", "n_rows_covered", "share", "n_units", "n_cube_rows"),
    *("n_bytes", "stale", "dimensions", "problem"),
    *("n_queries", "n_rows_saved", "n_bytes_saved", "last_used_at"),
)


class CubeSerializer(serializers.ModelSerializer[Cube]):
    """A cube, with what the last build found."""

    lake = serializers.CharField(source="table.lake", read_only=True)
    table_id = serializers.IntegerField(read_only=True)
    table = serializers.CharField(read_only=True, help_text="the table that it is a cube of")
    cube_table = serializers.CharField(read_only=True, help_text="the cube's own table")
    share = serializers.FloatField(
        read_only=True, allow_null=True, help_text="of the table's rows that it covers"
    )
    # A cube that was just defined has none, and nobody looked.
    n_queries = serializers.IntegerField(
        read_only=True, default=0, help_text="answered in the last 7 days, as readers reported"
    )
    n_rows_saved = serializers.IntegerField(
        read_only=True, default=0, help_text="of the table, not read by those queries"
    )
    n_bytes_saved = serializers.IntegerField(
        read_only=True, default=0, help_text="of the data files of those rows"
    )
    last_used_at = serializers.DateTimeField(read_only=True, default=None, allow_null=True)

    class Meta:
        model = Cube
        fields = CUBE_FIELDS
        read_only_fields = fields


class CubeDetailSerializer(CubeSerializer):
    """The same with the definition that holds."""

    definition = serializers.SerializerMethodField()

    class Meta(CubeSerializer.Meta):
        fields = (*CUBE_FIELDS, "definition")
        read_only_fields = fields

    def get_definition(self, row: Cube) -> dict[str, Any]:
        """Return it as docs/cubes.md has it."""
        return dict(version_of(row).definition)


class CubeCoverageSerializer(serializers.ModelSerializer[CubeCoverage]):
    """How much of one partition is covered."""

    class Meta:
        model = CubeCoverage
        fields = (
            *("partition", "n_files", "n_covered", "n_rows", "n_rows_covered", "n_cube_rows"),
            "stale",
        )
        read_only_fields = fields


class CubeVersionSerializer(serializers.ModelSerializer[CubeVersion]):
    """One definition as somebody set it."""

    class Meta:
        model = CubeVersion
        fields = ("version", "definition", "estimate", "by", "at", "reason")
        read_only_fields = fields


class CubeBuildSerializer(serializers.ModelSerializer[CubeBuild]):
    """One run's work on a cube."""

    class Meta:
        model = CubeBuild
        fields = (
            *("at", "run", "version", "seconds", "n_files_read", "n_rows_read", "n_units_built"),
            *("n_units_merged", "n_units_gone", "n_cube_rows", "n_bytes", "outcome"),
        )
        read_only_fields = fields


class CubeUseSerializer(serializers.ModelSerializer[CubeUse]):
    """What one reader's queries had from a cube on one day."""

    class Meta:
        model = CubeUse
        fields = (
            *("day", "engine", "application", "user", "n_queries", "n_rows", "n_bytes"),
            *("n_fresh_rows", "n_cube_rows", "n_cube_bytes", "n_timed", "seconds"),
            "last_used_at",
        )
        read_only_fields = fields


class CubeDraftSerializer(serializers.Serializer[Any]):
    """A definition as people type it, one thing a line."""

    name = serializers.CharField(max_length=40)
    joins = serializers.CharField(
        default="", allow_blank=True, help_text="alias: database.table on column = its_key"
    )
    dimensions = serializers.CharField(help_text="column, or name = expression")
    measures = serializers.CharField(
        default="", allow_blank=True, help_text="name = expression: sum, count"
    )
    max_leaf = serializers.IntegerField(
        default=None, allow_null=True, help_text="null: no star-tree"
    )
    star_dimensions = serializers.CharField(default="", allow_blank=True)
    skip_star = serializers.CharField(default="", allow_blank=True)
    budget = serializers.FloatField(
        default=None,
        allow_null=True,
        help_text="most rows of the star-tree, as times of those without it; null: no limit",
    )
    time_zone = serializers.CharField(default="UTC", max_length=64)


class CubeEstimateSerializer(serializers.ModelSerializer[Run]):
    """What a cube would hold, once the run is done."""

    estimate = serializers.JSONField(
        source="result",
        read_only=True,
        help_text="`pays` with its reason, `problems` by field, rows, bytes and seconds of a build",
    )

    class Meta:
        model = Run
        fields = ("id", "state", "params", "estimate", "error")
        read_only_fields = fields


class CubeOfEstimateSerializer(serializers.Serializer[Any]):
    """Which estimate becomes a cube, and why."""

    estimate = serializers.UUIDField(help_text="the run of an estimate that found it to pay")
    reason = serializers.CharField(max_length=1000)


class CubeChangeSerializer(CubeOfEstimateSerializer):
    """The same for a cube that is there."""

    seen = serializers.IntegerField(help_text="the version that it takes the place of")


class CubeList(KeysetList):
    """Cubes of a lake."""

    operation_id = "optimizer_cubes_list"
    serializer_class = CubeSerializer
    filterset_class = CubeFilter
    orders = CUBE_ORDERS

    def get_queryset(self) -> Rows:
        """List the cubes of the tables that you may see."""
        return cubes_visible(self.lake, self.user, now=timezone.now())


class CubeDetail(ApiView):
    """One cube."""

    @operation("optimizer_cubes_get", answer=CubeDetailSerializer)
    def get(self, cube_id: int) -> object:
        """Return a cube with its definition and what the last build found."""
        return get_cube_for_user(cube_id, self.user, now=timezone.now())


class CubeCoverageList(KeysetList):
    """Coverage by partition."""

    operation_id = "optimizer_cubes_coverage"
    serializer_class = CubeCoverageSerializer
    orders = COVERAGE_ORDERS

    def get_queryset(self) -> Rows:
        """List how much of each partition a cube covers, the newest first."""
        return coverage_of(get_cube_for_user(self.kwargs["cube_id"], self.user))


class CubeVersionList(KeysetList):
    """Definitions by version."""

    operation_id = "optimizer_cubes_versions"
    serializer_class = CubeVersionSerializer
    orders = VERSION_ORDERS

    def get_queryset(self) -> Rows:
        """List the definitions that a cube had, the newest first."""
        return versions_of(get_cube_for_user(self.kwargs["cube_id"], self.user))


class CubeBuildList(KeysetList):
    """Builds of a cube."""

    operation_id = "optimizer_cubes_builds"
    serializer_class = CubeBuildSerializer
    orders = BUILD_ORDERS

    def get_queryset(self) -> Rows:
        """List what runs did to a cube, the newest first."""
        return builds_of(get_cube_for_user(self.kwargs["cube_id"], self.user))


class CubeUseList(KeysetList):
    """Queries answered from a cube."""

    operation_id = "optimizer_cubes_uses"
    serializer_class = CubeUseSerializer
    orders = USE_ORDERS

    def get_queryset(self) -> Rows:
        """List what readers reported of a cube by day and reader, the newest first."""
        return uses_of(get_cube_for_user(self.kwargs["cube_id"], self.user))


class TableCubes(ApiView):
    """Defining a cube."""

    @operation(
        "optimizer_cubes_define",
        body=CubeOfEstimateSerializer,
        answer=CubeDetailSerializer,
        status=201,
    )
    def post(self, table_id: int) -> object:
        """Define a cube as an estimate has it; the next run begins to build it."""
        table, said = get_table_for_user(table_id, self.user), self.data
        estimate = get_estimate(table, said["estimate"])
        return cube_define(
            table, estimate, user=self.user, reason=said["reason"], now=timezone.now()
        )


class CubeEstimateList(ApiView):
    """Asking what a cube would hold."""

    @operation(
        "optimizer_cubes_estimate",
        body=CubeDraftSerializer,
        answer=CubeEstimateSerializer,
        status=202,
    )
    def post(self, table_id: int) -> object:
        """Have a definition checked and estimated by a short run; nothing is built."""
        table = get_table_for_user(table_id, self.user)
        return estimate_request(table, Draft(**self.data), user=self.user, now=timezone.now())


class CubeEstimateDetail(ApiView):
    """One estimate."""

    @operation("optimizer_cubes_estimate_get", answer=CubeEstimateSerializer)
    def get(self, table_id: int, run_id: UUID) -> object:
        """Return what the run found; `estimate` is null while it is under way."""
        return get_estimate(get_table_for_user(table_id, self.user), run_id)


class CubeChange(ApiView):
    """Changing a definition."""

    @operation("optimizer_cubes_change", body=CubeChangeSerializer, answer=CubeDetailSerializer)
    def post(self, cube_id: int) -> object:
        """Give a cube the definition of an estimate as its next version; it is rebuilt."""
        now, said = timezone.now(), self.data
        cube = get_cube_for_user(cube_id, self.user, now=now)
        estimate = get_estimate(cube.table, said["estimate"])
        return cube_change(
            cube,
            estimate,
            seen=said["seen"],
            user=self.user,
            reason=said["reason"],
            now=now,
        )


def _asked(view: ApiView, service: Callable[..., object], cube_id: int) -> Cube:
    now = timezone.now()
    cube = get_cube_for_user(cube_id, view.user, now=now)
    service(cube, user=view.user, reason=view.data["reason"], now=now)
    return cube


class CubeRebuild(ApiView):
    """Rebuilding."""

    @operation("optimizer_cubes_rebuild", body=ReasonSerializer, answer=CubeSerializer)
    def post(self, cube_id: int) -> object:
        """Have a cube rebuilt from all data files."""
        return _asked(self, cube_rebuild, cube_id)


class CubePause(ApiView):
    """Pausing."""

    @operation("optimizer_cubes_pause", body=ReasonSerializer, answer=CubeSerializer)
    def post(self, cube_id: int) -> object:
        """Have a cube not built further; what it covers still answers queries."""
        return _asked(self, cube_pause, cube_id)


class CubeResume(ApiView):
    """Resuming."""

    @operation("optimizer_cubes_resume", body=ReasonSerializer, answer=CubeSerializer)
    def post(self, cube_id: int) -> object:
        """Have a paused cube built again."""
        return _asked(self, cube_resume, cube_id)


class CubeDrop(ApiView):
    """Dropping."""

    @operation("optimizer_cubes_drop", body=ReasonSerializer, answer=CubeSerializer, status=202)
    def post(self, cube_id: int) -> object:
        """Have a run take a cube's own table away; no data of the table is touched."""
        return _asked(self, cube_drop, cube_id)
