"""Judges the estimates of cubes that a run made for a table, and gathers what an advice shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from optimizer.advice.domain.layout_advice import NoProposal, Traffic
from optimizer.advice.domain.stars.cube_advice import (
    CubeOption,
    CubeProposal,
    Scanned,
    decide_cube,
)
from optimizer.iceberg.tables.selectors.groupings import groupings_summed
from optimizer.models import IcebergTable

GROUPINGS_KEPT = 30
_FIGURES = (
    *("n_rows", "n_bytes", "cube_rows", "cube_bytes", "build_seconds", "is_exact"),
    *("n_files", "n_sampled", "share", "byte_share", "star_rows", "star_read"),
)


@dataclass(frozen=True, slots=True)
class JudgedCubes:
    """What came of a table's candidates; `judged` is a proposal, or says why there is none."""

    judged: CubeProposal | NoProposal
    traffic: Traffic
    proposed: str = ""
    evidence: Mapping[str, Any] | None = None


def judged_cubes(
    table: IcebergTable, order: Mapping[str, Any], found: Mapping[str, Any], *, now: datetime
) -> JudgedCubes | None:
    """Judge what a run found of the cubes of its order; None where no grouping was recorded."""
    grouped = order.get("grouped")
    if not grouped:
        return None
    orders, estimates = order["cubes"], found.get("cubes") or []
    options = [_option(one, made) for one, made in zip(orders, estimates, strict=False)]
    n_days = max(1, grouped["n_days"])
    scanned = Scanned(grouped["n_bytes"], n_days, grouped["added_a_day"])
    judged: CubeProposal | NoProposal = decide_cube(options, scanned)
    if not options and (n_held := grouped["held"]["n_queries"]):
        judged = NoProposal(f"Cubes of the table hold what {n_held:,} recorded queries group by.")
    a_day = grouped["n_bytes"] // n_days
    if isinstance(judged, NoProposal):
        return JudgedCubes(judged, Traffic(grouped["n_queries"], n_days, a_day))
    chosen, made = orders[judged.place], estimates[judged.place]
    traffic = Traffic(chosen["n_queries"], chosen["n_days"], a_day)
    evidence = {
        "definition": made["definition"],
        "estimate": {name: made[name] for name in _FIGURES if name in made},
        "n_bytes": chosen["n_bytes"],
        "seconds": chosen["seconds"],
        "saved_a_day": judged.saved_a_day,
        "kept_a_day": judged.kept_a_day,
        "digests": chosen["digests"],
        "groupings": _groupings(table, chosen["digests"], now=now),
        "tried": [
            {
                "chosen": place == judged.place,
                "joins": orders[place]["definition"]["joins"],
                "text": cube_text(orders[place]["definition"]),
                "n_queries": one.n_queries,
                "n_bytes": one.n_bytes,
                "cube_rows": one.cube_rows,
                "cube_bytes": one.cube_bytes,
                "refused": one.refused,
            }
            for place, one in enumerate(options)
        ],
        "held": grouped["held"],
        "refused": grouped["refused"],
    }
    return JudgedCubes(judged, traffic, cube_text(made["definition"])[:2200], evidence)


def cube_text(definition: Mapping[str, Any]) -> str:
    """Return a definition as one line: its name, dimensions, and measures."""
    dimensions = ", ".join(one["name"] for one in definition["dimensions"])
    measures = ["number of rows"]
    measures += [
        f"{' and '.join(one['functions'])} of {one['name']}" for one in definition["measures"]
    ]
    return f"{definition['name']}: {dimensions}; {', '.join(measures)}"


def _option(order: Mapping[str, Any], made: Mapping[str, Any]) -> CubeOption:
    return CubeOption(
        order["definition"]["name"],
        order["n_queries"],
        order["n_days"],
        order["n_bytes"],
        cube_rows=made.get("cube_rows", 0.0),
        cube_bytes=made.get("cube_bytes", 0.0),
        table_bytes=made.get("n_bytes", 0),
        build_seconds=made.get("build_seconds", 0.0),
        refused=made.get("problem", ""),
    )


def _groupings(
    table: IcebergTable, digests: Sequence[str], *, now: datetime
) -> list[dict[str, Any]]:
    wanted = set(digests)
    found = [one for one in groupings_summed(table, now=now) if one.digest in wanted]
    return [
        {
            "dimensions": list(one.dimensions),
            "measures": list(one.measures),
            "joins": list(one.joins),
            "tables": list(one.tables),
            "n_queries": one.n_queries,
            "n_days": one.n_days,
            "n_bytes": one.n_bytes,
            "seconds": one.seconds,
            "shape": one.shape,
        }
        for one in found[:GROUPINGS_KEPT]
    ]
