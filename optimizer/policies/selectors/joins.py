"""Reads the joins that a table's cubes declare, of which its policy may name columns."""

from django.db.models import F

from optimizer.cubes.domain.declared_joins import DeclaredJoins, declared_joins
from optimizer.cubes.domain.states import CubeState
from optimizer.models import CubeVersion, IcebergTable

_DECLARING = (CubeState.ACTIVE, CubeState.PAUSED)


def declared_joins_of(row: IcebergTable) -> DeclaredJoins:
    """Return the joins of a table's cubes as they are defined now; dropped cubes declare none."""
    versions = CubeVersion.objects.filter(
        cube__table=row, cube__is_there=True, cube__state__in=_DECLARING, version=F("cube__version")
    )
    return declared_joins(versions.order_by("cube__pk").values_list("definition", flat=True))
