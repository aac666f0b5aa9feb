"""The three steps of advice as the portal takes them, each decided by the product's own rules.

A step is told which queries were recorded and the bytes that each planned, and says what is advised
and what is expected of it: of one byte planned before, so much is planned then, for all queries and
for those of each template.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from bench.advice_log import Query
from bench.advice_table import WideTable
from bench.layout import DB
from optimizer.advice.domain.asked import asked_in
from optimizer.advice.domain.drawn import RecordedScans, drawn_queries
from optimizer.advice.domain.filters import POINTS
from optimizer.advice.domain.index_advice import (
    IndexOption,
    decide_indexes,
    filtered_scans,
    index_candidates,
)
from optimizer.advice.domain.layout_advice import NoProposal, Option, Traffic, decide_layout
from optimizer.advice.domain.stars.cube_advice import (
    CubeOption,
    RecordedGrouping,
    Scanned,
    candidates,
    decide_cube,
)
from optimizer.advice.domain.stars.drafts import Held, definition_of, held_by
from optimizer.advice.domain.stars.groupings import StarGrouping, star_groupings
from optimizer.advice.domain.what_if import WhatIf
from optimizer.advice.jobs.layout import named_filters, sampled, wanted_columns
from optimizer.iceberg.access.jobs.iceberg import open_table
from optimizer.iceberg.cubing.jobs.table_files import table_files
from optimizer.iceberg.rewrite.domain.layouts import NO_LAYOUT, Layout, parse_layout
from optimizer.pruning.domain.uses import Names

MOST_CUBES = 3


@dataclass(frozen=True, slots=True)
class Recorded:
    """Queries that were recorded, and the bytes that each planned."""

    queries: Sequence[Query]
    planned: Sequence[int]

    @property
    def n_bytes(self) -> int:
        """What all planned together."""
        return sum(self.planned)

    @property
    def traffic(self) -> Traffic:
        """The queries as advice counts them."""
        n_days = len({one.day for one in self.queries})
        return Traffic(len(self.queries), n_days, self.n_bytes // n_days)

    @property
    def shapes(self) -> list[dict[str, Any]]:
        """Scans by what they filter, as the portal sums them, the dearest first."""
        scans: Counter[Any] = Counter()
        n_bytes: Counter[Any] = Counter()
        for one, size in zip(self.queries, self.planned, strict=True):
            scans[one.filters] += 1
            n_bytes[one.filters] += size
        return [
            {
                "filters": [[one.column, one.kind.value] for one in key],
                **{"n_scans": scans[key], "n_bytes": n_bytes[key]},
            }
            for key in sorted(scans, key=lambda one: -n_bytes[one])
        ]

    def by_template(self) -> dict[str, int]:
        """What the queries of each template planned."""
        found: Counter[str] = Counter()
        for one, size in zip(self.queries, self.planned, strict=True):
            found[one.template] += size
        return dict(found)


@dataclass(frozen=True, slots=True)
class Step:
    """What is advised (nothing: empty), why, and what is expected of it."""

    name: str
    advised: str
    reason: str
    expected: float = 1.0
    by_template: Mapping[str, float] = field(default_factory=dict)
    apply: Callable[[], None] = lambda: None
    take_back: Callable[[], None] = lambda: None


def sort_step(table: WideTable, recorded: Recorded) -> Step:
    """Say in which order the rows should lie."""
    share = table.n_files / table.n_bytes
    shapes = [{**one, "n_files": round(one["n_bytes"] * share)} for one in recorded.shapes]
    traffic = recorded.traffic
    found = table.looked({"shapes": shapes, "n_days": traffic.n_days, "candidates": []})
    judged = decide_layout(
        found["now"],
        [Option(parse_layout(one["layout"]), one["share"]) for one in found["options"]],
        traffic,
        current=NO_LAYOUT,
        rewrite_bytes=found["rewrite_bytes"],
        n_files=found["n_files"],
    )
    if isinstance(judged, NoProposal):
        return Step("sort", "", judged.reason)
    wanted = str(judged.layout)
    return Step(
        "sort",
        wanted,
        judged.reason,
        judged.expected,
        _sorted(table, recorded, shapes, judged.layout),
        apply=lambda: table.lay_out(wanted),
        take_back=table.back,
    )


def _sorted(
    table: WideTable, recorded: Recorded, shapes: Sequence[Mapping[str, Any]], layout: Layout
) -> dict[str, float]:
    """Return what the what-if expects of each template; the advice itself says one figure."""
    scans = [
        RecordedScans(shape.filters, shape.n_scans, one["n_files"])
        for shape, one in zip(filtered_scans(shapes), shapes, strict=True)
    ]
    opened = open_table(table.spark, DB, table.name)
    columns, _, lie = sampled(opened, table_files(opened), wanted_columns(scans))
    found = {}
    for one in scans:
        queries = drawn_queries(columns, named_filters([one], columns))
        what_if = WhatIf(columns, queries, n_files=table.n_files, lie=lie)
        found[one.filters] = what_if.share(layout) / what_if.share(NO_LAYOUT)
    return {one.template: found[one.filters] for one in recorded.queries}


def index_step(table: WideTable, recorded: Recorded) -> Step:
    """Say which columns should have a file index."""
    scans, traffic = filtered_scans(recorded.shapes), recorded.traffic
    asked = [asdict(one) for one in index_candidates(scans, ())]
    found = table.looked({"shapes": [], "n_days": traffic.n_days, "candidates": asked})
    options = [IndexOption(**one) for one in found["indexes"]]
    judged = decide_indexes(options, scans, traffic, indexes=())
    if isinstance(judged, NoProposal):
        each = (f"{one.column}: {one.refused or 'pays'}" for one in options)
        return Step("indexes", "", f"{judged.reason} ({'; '.join(each)})")
    shares = {one.column: one.share for one in options if one.column in judged.columns}

    def left(query: Query) -> float:
        points = {one.column for one in query.filters if one.kind in POINTS}
        return min((shares[name] for name in points & shares.keys()), default=1.0)

    return Step(
        "indexes",
        ", ".join(judged.columns),
        judged.reason,
        judged.expected,
        {one.template: left(one) for one in recorded.queries},
        apply=lambda: table.index(judged.columns),
        take_back=table.forget_indexes,
    )


def cube_step(table: WideTable, recorded: Recorded) -> Step:
    """Say which cubes the table should have: one after the other, as the portal's runs do.

    A run judges a cube by what is left of the log once the cubes before it answer their part.
    """
    groupings = _groupings(table, recorded)
    traffic = recorded.traffic
    estimates: dict[Held, Mapping[str, Any]] = {}
    made: list[dict[str, Any]] = []
    shares: dict[str, float] = {}
    reasons = []
    while len(made) < MOST_CUBES:
        tried, _ = candidates(groupings, [held_by(one) for one in made])
        _estimate(table, estimates, [one.held for one in tried])
        options = [
            CubeOption(
                one["definition"]["name"],
                each.n_queries,
                each.n_days,
                each.n_bytes,
                cube_rows=one.get("cube_rows", 0.0),
                cube_bytes=one.get("cube_bytes", 0.0),
                table_bytes=one.get("n_bytes", 0),
                build_seconds=one.get("build_seconds", 0.0),
                refused=one["problem"],
            )
            for each, one in ((each, estimates[each.held]) for each in tried)
        ]
        judged = decide_cube(options, Scanned(recorded.n_bytes, traffic.n_days))
        reasons.append(judged.reason)
        if isinstance(judged, NoProposal):
            break
        made.append(dict(estimates[tried[judged.place].held]["definition"]))
        for one in tried[judged.place].answered:
            for template in one.digest.split(","):
                shares.setdefault(template, options[judged.place].byte_share)
    if not made:
        return Step("cubes", "", " ".join(reasons))
    by_template = {name: shares.get(name, 1.0) for name in recorded.by_template()}
    read = sum(by_template[name] * size for name, size in recorded.by_template().items())
    return Step(
        "cubes",
        "; ".join(_said(one) for one in made),
        " ".join(reasons),
        read / recorded.n_bytes,
        by_template,
        apply=lambda: table.add_cubes(made),
        take_back=lambda: table.use_cubes(on=False),
    )


def _estimate(
    table: WideTable, estimates: dict[Held, Mapping[str, Any]], wanted: Sequence[Held]
) -> None:
    """Have cubes estimated; what was estimated in a run before is the same again."""
    new = [one for one in wanted if one not in estimates]
    taken = {one["definition"]["name"] for one in estimates.values()}
    orders = []
    for one in new:
        definition = definition_of(one, f"{DB}.{table.name}", taken=taken)
        taken.add(definition["name"])
        orders.append({"definition": definition})
    found = table.looked({"shapes": [], "n_days": 1, "candidates": [], "cubes": orders})
    estimates |= dict(zip(new, found["cubes"], strict=True))


def _said(definition: Mapping[str, Any]) -> str:
    dimensions = ", ".join(one["name"] for one in definition["dimensions"])
    measures = ", ".join(
        f"{one['functions']} {one['expression']}" for one in definition["measures"]
    )
    return f"{definition['name']} ({dimensions}; {measures})"


def _groupings(table: WideTable, recorded: Recorded) -> list[RecordedGrouping]:
    """Return what the queries group by; a digest names the templates that do so."""
    name = f"{DB}.{table.name}"
    columns = {name: frozenset(table.spark.table(table.sql).columns)}
    found: dict[StarGrouping, list[int]] = {}
    for place, query in enumerate(recorded.queries):
        asked = asked_in(query.sql(table.sql), "spark", Names("lake"), columns)
        for one in star_groupings(asked, {name: recorded.planned[place]}):
            found.setdefault(one, []).append(place)
    return [
        RecordedGrouping(
            ",".join(sorted({recorded.queries[place].template for place in places})),
            one.dimensions,
            one.measures,
            one.joins,
            len(places),
            sum(recorded.planned[place] for place in places),
            days=frozenset(recorded.queries[place].day for place in places),
            refused=one.refused,
        )
        for one, places in found.items()
    ]
