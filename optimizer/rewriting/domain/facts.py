"""What rewriting must know of a table and of its cubes, at one snapshot of each."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from optimizer.matching.domain.views import View, ViewDimension, ViewJoin, ViewMeasure

ICEBERG, HUDI = "iceberg", "hudi"


@dataclass(frozen=True)
class CubeFacts:
    """A cube as it can be read beside one snapshot of its table."""

    view: View
    table: str
    """The cube's own table, `<db>.<name>`."""
    snapshot_id: int | None
    """What it is read at; None: its table cannot be read as of a commit."""
    metadata_location: str = ""
    problem: str = ""
    """Why it cannot be used at all; empty where it can."""
    star: tuple[str, ...] = ()
    """The dimensions that its star-trees may aggregate away."""
    units: tuple[tuple[int, int], ...] | None = None
    """Ranges of the units to be read, both ends in; None: all of the snapshot."""
    n_rows: int = 0
    """Rows of those units, without star rows."""
    n_bytes: int = 0
    covered_rows: int = 0
    """Rows of the table that they stand for."""
    uncovered: tuple[str, ...] = ()
    """The data files that are not covered, as the table's manifests name them."""
    n_uncovered: int = 0
    uncovered_rows: int = 0
    uncovered_bytes: int = 0
    dimensions: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Snapshots of each joined table under which the units are right."""
    max_abs: Mapping[str, int] = field(default_factory=dict)
    """The greatest absolute number of a measure, where it is known."""
    negative_zero: frozenset[str] = frozenset()
    """Measures of floats that hold a negative zero, or may hold one."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """What dimensions and states are of the stored columns, where no column has their name."""
    format: str = ICEBERG


@dataclass(frozen=True)
class TableFacts:
    """A table at one snapshot; `columns` are lower-case names to types of Spark.

    Of Hudi, the uuid is the location and the snapshot the newest completed instant.
    """

    name: str
    uuid: str
    snapshot_id: int | None
    metadata_location: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    bounds: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """The least and the greatest whole number of columns that measures compute with."""
    can_be_pinned: bool = True
    """False where columns changed after the last commit: the snapshot has the old ones."""
    n_files: int = 0
    n_bytes: int = 0
    n_rows: int = 0
    cubes: tuple[CubeFacts, ...] = ()
    format: str = ICEBERG
    version: int = 0
    """Of Hudi: hoodie.table.version."""
    has_logs: bool = False
    """Of Hudi: whether rows are in log files that no compaction has merged; False: not looked."""
    same_rows: tuple[int, ...] = ()
    """Of Hudi: the instants from the newest one that changed rows on; at each they are the same."""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        found = asdict(self)
        for cube in found["cubes"]:
            cube["negative_zero"] = sorted(cube["negative_zero"])
            for measure in cube["view"]["measures"]:
                measure["functions"] = sorted(measure["functions"])
        return found

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """Return what `to_json` gave, after it went through JSON."""
        cubes = tuple(_cube(one) for one in found["cubes"])
        bounds = {name: (low, high) for name, (low, high) in found["bounds"].items()}
        same_rows = tuple(found.get("same_rows", ()))
        return cls(**{**found, "bounds": bounds, "cubes": cubes, "same_rows": same_rows})


def _cube(found: Mapping[str, Any]) -> CubeFacts:
    view = found["view"]
    joins = tuple(
        ViewJoin(one["alias"], one["table"], tuple((left, right) for left, right in one["on"]))
        for one in view["joins"]
    )
    dimensions = tuple(ViewDimension(**one) for one in view["dimensions"])
    measures = tuple(
        ViewMeasure(**{**one, "functions": frozenset(one["functions"])}) for one in view["measures"]
    )
    units = found["units"]
    return CubeFacts(
        **{
            **found,
            "view": View(
                **{
                    **view,
                    "joins": joins,
                    "dimensions": dimensions,
                    "measures": measures,
                    "filters": tuple(view["filters"]),
                }
            ),
            "star": tuple(found["star"]),
            "units": None if units is None else tuple((low, high) for low, high in units),
            "uncovered": tuple(found["uncovered"]),
            "dimensions": {name: tuple(ids) for name, ids in found["dimensions"].items()},
            "negative_zero": frozenset(found["negative_zero"]),
        }
    )
