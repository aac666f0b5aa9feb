"""Measures what the listener that tells of queries adds to a trivial query of Spark.

    python -m bench.query_listener [--rounds 3]

A driver of its own runs 2,000 times the same query of 50 rows, by turns without the listener, with
a portal that answers, and with one that is away. Figures are in bench/README.md.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from bench.pages import percentile
from tests.support.query_teller import MANY, told
from tests.support.report_portal import receiving

WARM_UP = 300
"""Queries at the start, in which the JVM compiles its code, are left out."""


def once(kind: str) -> list[float]:
    """Run a driver; returns the milliseconds of each query."""
    with receiving() as portal, tempfile.TemporaryDirectory() as root:
        if kind == "away":
            portal.hold.clear()
        base = portal.address.removesuffix("index-reports") + "api/optimizer/v1/main"
        (line,) = told(Path(root), base, "many", listens=kind != "without")
        n_told = sum(len(one["queries"]) for one in portal.bodies)
    took = [1000 * one for one in line["took"][WARM_UP:]]
    p50, p95 = (percentile(took, share) for share in (0.5, 0.95))
    counts = line["counts"].get("lake", {})
    print(
        f"{kind}: {MANY} queries, p50 {p50:.2f} p95 {p95:.2f} ms; told {n_told}, "
        f"dropped {counts.get('dropped', 0)}; load {os.getloadavg()[0]:.1f}"
    )
    return took


def main(arguments: list[str]) -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args(arguments)
    kinds = ("without", "listening", "away")
    found: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(asked.rounds):
        for kind in kinds:
            found[kind] += once(kind)
    plain = percentile(found["without"], 0.5)
    for kind in kinds[1:]:
        print(f"{kind}: {percentile(found[kind], 0.5) - plain:+.2f} ms of {plain:.2f} ms (p50)")


if __name__ == "__main__":
    main(sys.argv[1:])
