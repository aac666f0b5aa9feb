"""Sums up what readers report of cubes: by cube, day and reader, for some weeks."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import F

from optimizer.models import Cube, CubeUse, IcebergTable

KEPT_DAYS = 35
MOST_READERS = 50
"""Readers of one cube on one day that are told apart; further ones are summed without a name."""
_MOST = 2**62


@dataclass(frozen=True, slots=True)
class CubeReader:
    """Which program asked: engine, Spark's application name, and its user."""

    engine: str
    application: str = ""
    user: str = ""


@dataclass(frozen=True, slots=True)
class ReportedAnswers:
    """What one cube answered since the reader's last report; counts as `CubeUse` has them."""

    cube: str
    n_queries: int
    n_rows: int
    n_bytes: int
    n_fresh_rows: int
    n_cube_rows: int
    n_cube_bytes: int
    n_timed: int = 0
    seconds: float = 0.0


def cube_uses_add(
    row: IcebergTable, uses: Iterable[ReportedAnswers], *, reader: CubeReader, now: datetime
) -> list[ReportedAnswers]:
    """Add what cubes of a table answered to today's sums; returns those that are known.

    Called twice it is counted twice.
    """
    given = list(uses)
    cubes = {
        one.name: one
        for one in row.cubes.filter(is_there=True, name__in={use.cube for use in given})
    }
    taken = [use for use in given if use.cube in cubes]
    for use in taken:
        _add(cubes[use.cube], use, reader=reader, now=now)
    return taken


def _add(cube: Cube, use: ReportedAnswers, *, reader: CubeReader, now: datetime) -> None:
    today = now.astimezone(UTC).date()
    counts = asdict(use)
    del counts["cube"]
    with transaction.atomic():
        key = {"day": today, **asdict(reader)}
        of_day = cube.uses.filter(day=today)
        if not of_day.filter(**key).exists() and of_day.count() >= MOST_READERS:
            key |= {"application": "", "user": ""}
        found, _ = CubeUse.objects.get_or_create(cube=cube, **key, defaults={"last_used_at": now})
        # A reader that lies may not make a sum that the database cannot hold.
        CubeUse.objects.filter(pk=found.pk, n_bytes__lt=_MOST, n_rows__lt=_MOST).update(
            last_used_at=now, **{name: F(name) + value for name, value in counts.items()}
        )
        cube.uses.filter(day__lt=today - timedelta(days=KEPT_DAYS)).delete()
