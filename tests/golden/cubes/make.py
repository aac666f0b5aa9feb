"""Makes the golden files of cubes (`python -m tests.golden.cubes.make`); the JVM reads them too."""

import json
from pathlib import Path

from optimizer.cubes.domain import coverage as coverages
from optimizer.cubes.domain.coverage import (
    AtSnapshot,
    Bound,
    Coverage,
    CoveredFile,
    JoinedTable,
    Unit,
    delete_fingerprint,
)
from optimizer.cubes.domain.definition import (
    Definition,
    Dimension,
    Join,
    Measure,
    StarTree,
    serialise,
)
from optimizer.cubes.domain.masks import free_mask, stars

HERE = Path(__file__).parent
TABLE_UUID = "7d6dbf1c-3d0c-4a3f-9d34-0b6dd5a6d0aa"
PART_UUID = "11111111-3d0c-4a3f-9d34-0b6dd5a6d0aa"
DELETES = delete_fingerprint([("s3://l/d2.puffin", 4), ("s3://l/d1.parquet", None)])

DEFINITION = Definition(
    name="by_brand",
    table="ssb.lineorder",
    table_uuid=TABLE_UUID,
    definition_version=3,
    joins=(Join("part", "ssb.part", (("fact.lo_partkey", "p_partkey"),), PART_UUID),),
    dimensions=(
        Dimension("brand", "part.p_brand1", "string"),
        Dimension("year", "year(fact.lo_orderdate)", "int"),
        Dimension("discount", "fact.lo_discount", "decimal(4,2)"),
    ),
    measures=(
        Measure("revenue", "fact.lo_revenue", "int", ("sum", "count")),
        Measure("profit", "fact.lo_revenue - fact.lo_supplycost", "decimal(12,2)", ("sum", "max")),
        Measure("mode", "fact.lo_shipmode", "string", ("distinct", "sketch")),
    ),
    columns={
        "fact.lo_partkey": 4,
        "part.p_partkey": 1,
        "part.p_brand1": 5,
        "fact.lo_orderdate": 6,
        "fact.lo_discount": 12,
        "fact.lo_revenue": 13,
        "fact.lo_supplycost": 14,
        "fact.lo_shipmode": 17,
    },
    star_tree=StarTree(10, ("brand", "year"), ("year",)),
)
FILES = (
    CoveredFile("s3://l/data/a b=1/one.parquet", 100),
    CoveredFile("s3://l/data/two.parquet", 200, DELETES),
    CoveredFile("s3://l/data/dreißig.parquet", 300),
    CoveredFile("s3://l/data/four.parquet", 400),
)
COVERAGE = Coverage(
    definition_version=3,
    table_uuid=TABLE_UUID,
    cube_snapshot_id=8_123_456_789_012_345_678,
    snapshot_id=9_007_199_254_740_993,
    exact=False,
    joined={"part": JoinedTable(PART_UUID, (5, 9_007_199_254_740_995))},
    files=FILES,
    units=(Unit(1, (0,), 100, True), Unit(2, (1, 2), 480, True), Unit(4, (3,), 400, False)),
    at_snapshot=AtSnapshot(600, 50, 1),
    bounds={"revenue": Bound(104_950), "profit": Bound(1 << 60), "mode": Bound()},
)
_NEW = CoveredFile("s3://l/data/new.parquet", 70)
CASES = {
    "its own snapshot without planning": None,
    "all files": FILES,
    "deletes since": (FILES[0], CoveredFile(FILES[1].location, 200, ""), FILES[2]),
    "half of a unit": (FILES[2], FILES[3], _NEW),
    "other records": (CoveredFile(FILES[0].location, 101),),
    "nothing": (),
}


def judgements() -> list[dict[str, object]]:
    """Return the cases with what is right in them."""
    found: list[dict[str, object]] = []
    for name, live in CASES.items():
        one = coverages.judge(COVERAGE, snapshot_id=COVERAGE.snapshot_id, live=live)
        found.append(
            {
                "name": name,
                "files": None
                if live is None
                else [[f.location, f.records, f.deletes] for f in live],
                "units": list(one.units),
                "uncovered": None if one.uncovered is None else list(one.uncovered),
                "covered_rows": one.covered_rows,
                "uncovered_rows": one.uncovered_rows,
                "uncovered_files": one.uncovered_files,
            }
        )
    return found


def masks() -> list[dict[str, object]]:
    """Return the free bits and stars of some sets of dimensions."""
    sets: tuple[list[str], ...] = (
        [],
        ["brand"],
        ["year"],
        ["discount"],
        ["brand", "year", "discount"],
    )
    return [
        {
            "used": used,
            "free": free_mask(DEFINITION, used),
            "stars": list(stars(DEFINITION, used) or ()),
        }
        for used in sets
    ]


def contents() -> dict[str, bytes]:
    """Return the bytes of every golden file."""
    cases = {
        "fingerprints": [
            {"deletes": [], "is": ""},
            {"deletes": [["s3://l/d2.puffin", 4], ["s3://l/d1.parquet", None]], "is": DELETES},
        ],
        "judgements": judgements(),
        "masks": masks(),
    }
    return {
        "definition.json": serialise(DEFINITION).encode(),
        "coverage.json.gz": coverages.serialise(COVERAGE),
        "expected.json": (json.dumps(cases, ensure_ascii=False, indent=1) + "\n").encode(),
    }


if __name__ == "__main__":
    for name, data in contents().items():
        (HERE / name).write_bytes(data)
