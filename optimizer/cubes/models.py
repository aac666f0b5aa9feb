"""Cubes of Iceberg tables: definitions by version, coverage, and builds."""

from typing import ClassVar

from django.db import models

from optimizer.cubes.domain.readers import Engine
from optimizer.cubes.domain.states import CubeState
from optimizer.iceberg.tables.models import IcebergTable

MAX_NAME = 40


class Cube(models.Model):
    """One cube of a table; the row of a dropped one is kept for its history.

    Changed only by `optimizer.cubes.services`. Counts are those that the last build found.
    """

    table = models.ForeignKey(IcebergTable, on_delete=models.CASCADE, related_name="cubes")
    name = models.CharField(max_length=MAX_NAME)
    state = models.CharField(
        max_length=8,
        choices=[(one.value, one.value) for one in CubeState],
        default=CubeState.ACTIVE.value,
    )
    # True until it is dropped, null afterwards: MariaDB knows no conditional uniqueness.
    is_there = models.BooleanField(null=True, default=True)
    version = models.PositiveIntegerField(default=1, help_text="of its definition, now")
    created_by = models.CharField(max_length=150)
    created_at = models.DateTimeField()
    state_by = models.CharField(max_length=150, blank=True, help_text="who paused or dropped it")
    state_at = models.DateTimeField(null=True)
    state_reason = models.TextField(blank=True)

    # What the last build found; null until there was one.
    built_at = models.DateTimeField(null=True)
    built_version = models.PositiveIntegerField(null=True)
    snapshot_id = models.BigIntegerField(null=True, help_text="of the table, as the build read it")
    cube_uuid = models.CharField(max_length=36, blank=True, help_text="of the cube's own table")
    cube_snapshot_id = models.BigIntegerField(null=True)
    n_files = models.BigIntegerField(null=True, help_text="data files of the table")
    n_covered = models.BigIntegerField(null=True, help_text="of them, those that it covers")
    n_rows = models.BigIntegerField(null=True, help_text="rows of the table")
    n_rows_covered = models.BigIntegerField(null=True)
    n_units = models.BigIntegerField(null=True)
    n_cube_rows = models.BigIntegerField(null=True, help_text="rows of the cube, star rows too")
    n_bytes = models.BigIntegerField(null=True, help_text="bytes of the cube's files")
    stale = models.JSONField(
        default=list, help_text="why files are not covered: [{code, reason, n_files}]"
    )
    dimensions = models.JSONField(
        default=list, help_text="of joined tables: [{alias, table, uuid, snapshot_ids}]"
    )
    problem = models.TextField(blank=True, help_text="why it cannot be used or built, in words")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["table", "name", "is_there"], name="optimizer_cube_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.table}"

    @property
    def cube_table(self) -> str:
        """The name of the cube's own table."""
        return f"{self.table.db}.{self.table.table}__cube_{self.name}"

    @property
    def share(self) -> float | None:
        """The share of the table's rows that it covers; None before the first build."""
        if self.n_rows is None or self.n_rows_covered is None:
            return None
        return self.n_rows_covered / self.n_rows if self.n_rows else 1.0


class CubeVersion(models.Model):
    """A definition as somebody set it; no version is ever changed or taken away."""

    cube = models.ForeignKey(Cube, on_delete=models.CASCADE, related_name="versions")
    version = models.PositiveIntegerField()
    definition = models.JSONField(help_text="as docs/cubes.md has it")
    estimate = models.JSONField(default=dict, help_text="what was estimated before it was set")
    by = models.CharField(max_length=150)
    at = models.DateTimeField()
    reason = models.TextField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cube", "version"], name="optimizer_cube_version_once")
        ]

    def __str__(self) -> str:
        return f"{self.cube_id} version {self.version}"


class CubeCoverage(models.Model):
    """How much of one partition a cube covers, as the last build found it."""

    cube = models.ForeignKey(Cube, on_delete=models.CASCADE, related_name="coverage")
    partition = models.TextField(blank=True, help_text="empty: an unpartitioned table")
    place = models.IntegerField(help_text="0 is the newest partition")
    n_files = models.BigIntegerField()
    n_covered = models.BigIntegerField()
    n_rows = models.BigIntegerField()
    n_rows_covered = models.BigIntegerField()
    n_cube_rows = models.BigIntegerField(default=0)
    stale = models.TextField(blank=True, help_text="why the rest is not covered, in words")

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["cube", "place"], name="optimizer_cube_coverage"),
        ]

    def __str__(self) -> str:
        return f"{self.cube_id} {self.partition}"


class CubeBuild(models.Model):
    """One run's work on a cube, and what it cost; the newest ones are kept."""

    cube = models.ForeignKey(Cube, on_delete=models.CASCADE, related_name="builds")
    version = models.PositiveIntegerField()
    run = models.UUIDField(null=True)
    at = models.DateTimeField(help_text="when it ended")
    seconds = models.FloatField(null=True)
    n_files_read = models.BigIntegerField(default=0)
    n_rows_read = models.BigIntegerField(default=0)
    n_units_built = models.BigIntegerField(default=0)
    n_units_merged = models.BigIntegerField(default=0, help_text="without reading data")
    n_units_gone = models.BigIntegerField(default=0)
    n_cube_rows = models.BigIntegerField(default=0, help_text="rows written")
    n_bytes = models.BigIntegerField(default=0, help_text="bytes written")
    outcome = models.TextField(blank=True, help_text="in words, where it did not do all")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cube", "run"], name="optimizer_cube_build_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["cube", "-at"], name="optimizer_cube_builds"),
        ]

    def __str__(self) -> str:
        return f"{self.cube_id} at {self.at:%Y-%m-%d %H:%M}"


class CubeUse(models.Model):
    """What one reader's queries had from a cube on one day, as it reported."""

    cube = models.ForeignKey(Cube, on_delete=models.CASCADE, related_name="uses")
    day = models.DateField(help_text="in UTC, when the report came")
    engine = models.CharField(max_length=8, choices=[(one.value, one.value) for one in Engine])
    application = models.CharField(
        max_length=200, blank=True, help_text="its name for itself; empty: further readers"
    )
    user = models.CharField(max_length=150, blank=True, help_text="as the engine knows them")
    n_queries = models.BigIntegerField(default=0, help_text="queries answered")
    n_rows = models.BigIntegerField(
        default=0, help_text="rows of the table that were not read, because the cube covers them"
    )
    n_bytes = models.BigIntegerField(default=0, help_text="bytes of the data files of those rows")
    n_fresh_rows = models.BigIntegerField(
        default=0, help_text="rows of the table that were aggregated afresh"
    )
    n_cube_rows = models.BigIntegerField(
        default=0, help_text="rows of the cube, at most, that were read in their place"
    )
    n_cube_bytes = models.BigIntegerField(default=0, help_text="bytes of the cube's files, at most")
    n_timed = models.BigIntegerField(default=0, help_text="queries whose seconds are known")
    seconds = models.FloatField(default=0, help_text="of those queries together")
    last_used_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cube", "day", "engine", "application", "user"],
                name="optimizer_cube_use_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.cube_id} {self.day} {self.engine} {self.application}"
