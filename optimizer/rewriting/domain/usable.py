"""Says whether a cube covers enough of the snapshots that a query reads."""

from collections.abc import Mapping

from optimizer.matching.domain.rules import Rule, Unfit
from optimizer.rewriting.domain.facts import CubeFacts
from optimizer.rewriting.domain.session import PATH_COLUMNS

MOST_UNCOVERED = 0.3
MOST_RANGES = 200


def check_coverage(
    cube: CubeFacts, snapshots: Mapping[str, int], dialect: str, most_files: int
) -> None:
    """Compare a cube with the snapshots of its table and of the tables that it joins.

    Raises:
        Unfit: what it covers does not do.
    """
    if cube.view.table not in snapshots:
        raise _unfit(f"{cube.view.table} has no rows yet")
    for join in cube.view.joins:
        if snapshots.get(join.table) not in cube.dimensions.get(join.alias, ()):
            raise _unfit(
                f"{join.table} has another snapshot than those that the cube was compared with; "
                "its next run compares it"
            )
    rows = cube.covered_rows + cube.uncovered_rows
    if cube.uncovered_rows > MOST_UNCOVERED * rows:
        share = 100 * cube.uncovered_rows // rows
        raise _unfit(f"it does not cover {share} % of the rows; the limit is {MOST_UNCOVERED:.0%}")
    n = f"{cube.n_uncovered:,} files are not covered"
    if cube.n_uncovered and dialect not in PATH_COLUMNS:
        raise _unfit(f"{n}, and {dialect} cannot read chosen files")
    if cube.n_uncovered > min(most_files, len(cube.uncovered)):
        raise _unfit(f"{n}; the limit is {most_files:,}")
    if cube.units is not None and len(cube.units) > MOST_RANGES:
        raise _unfit(
            "its rows lie among too many that do not count any more; its next run removes those"
        )


def _unfit(reason: str) -> Unfit:
    return Unfit(Rule.COVERAGE, reason)
