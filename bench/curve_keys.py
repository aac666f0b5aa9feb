"""Measures the microseconds per row that a curve's key takes; the limit is three.

The Arrow function of the job itself, called with what Spark gives it: batches of 64k rows of four
columns (longs, doubles, days, texts) with 10 bits each, one thread. Each round is one batch, each
step is also timed by itself. The limit is held against processor time of the median of five.
`python -m bench.curve_keys`; figures in bench/README.md.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optimizer.iceberg.rewrite.domain.boundaries import BITS, Boundaries, ColumnBoundaries
from optimizer.iceberg.rewrite.domain.curves import Ids, hilbert_keys
from optimizer.iceberg.rewrite.domain.layouts import LayoutKind
from optimizer.iceberg.rewrite.domain.row_keys import RowKeys, cut_points, places_of
from optimizer.iceberg.rewrite.domain.value_forms import Form
from optimizer.iceberg.rewrite.jobs.row_ordering import placer

LIMIT_MICROSECONDS = 3.0
N_FILES = 400
SEED = 20_261_122
FORMS = {"numbers": (Form.WHOLE, Form.REAL, Form.DAYS, Form.WHOLE), "texts": (Form.TEXT,) * 4}

Columns = Sequence[NDArray[Any]]


def batch(forms: Sequence[Form], n_rows: int, *, seed: int) -> Columns:
    """Make the columns of one batch: all values different, or nearly."""
    chance = np.random.default_rng(seed)
    made: list[NDArray[Any]] = []
    for form in forms:
        numbers = chance.integers(0, 2**62, n_rows)
        if form is Form.TEXT:
            texts = [b"Customer#%019d" % number for number in numbers.tolist()]
            made.append(np.array(texts, dtype=object))
        elif form is Form.REAL:
            made.append(chance.normal(size=n_rows))
        else:
            made.append(numbers % 3000 if form is Form.DAYS else numbers)
    return made


def median_micros(do: Callable[[], object], *, n_rows: int, rounds: int) -> float:
    """Time some rounds of one thing; processor microseconds a row of the median."""
    spent = []
    for _ in range(rounds):
        started = time.process_time()
        do()
        spent.append(time.process_time() - started)
    return statistics.median(spent) / n_rows * 1e6


def measured(forms: Sequence[Form], n_rows: int, *, rounds: int) -> Mapping[str, float]:
    """Return the microseconds a row of each step and of the whole function."""
    sample, values = batch(forms, n_rows, seed=SEED), batch(forms, n_rows, seed=SEED + 1)
    columns = (
        ColumnBoundaries.of_sample(f"c{number}", form, column)
        for number, (form, column) in enumerate(zip(forms, sample, strict=True))
    )
    boundaries = Boundaries(tuple(columns), BITS)
    nulls = np.zeros(n_rows, dtype=np.int32)
    keys = RowKeys(LayoutKind.HILBERT, boundaries)
    cuts = cut_points(keys(sample, nulls=nulls), n_files=N_FILES)
    place = placer(keys, cuts, np.arange(N_FILES, dtype=np.int32))
    ranks = boundaries.ranks()

    def ids() -> list[Ids]:
        return [rank(column) for rank, column in zip(ranks, values, strict=True)]

    points, found = ids(), keys(values, nulls=nulls)
    series = (pd.Series(nulls), *map(pd.Series, values))
    some_null = (pd.Series((np.arange(n_rows) % 16).astype(np.int32)), *map(pd.Series, values))
    steps: dict[str, Callable[[], object]] = {
        "ids": ids,
        "curve": lambda: hilbert_keys(points, bits=BITS),
        "places": lambda: places_of(found, cuts),
        "whole": lambda: list(place(iter([series]))),
        "whole, with nulls": lambda: list(place(iter([some_null]))),
    }
    return {name: median_micros(do, n_rows=n_rows, rounds=rounds) for name, do in steps.items()}


def main() -> int:
    """Time the function for four numbers and for four texts; fail when one is over the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1 << 16)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"4 columns x {BITS} bits, {args.rows:,} rows a batch; load of the machine {load}")
    slowest = 0.0
    for name, forms in FORMS.items():
        micros = measured(forms, args.rows, rounds=args.rounds)
        print(f"{name}: " + ", ".join(f"{step} {took:.2f}" for step, took in micros.items()))
        slowest = max(slowest, micros["whole"], micros["whole, with nulls"])
    print(f"slowest {slowest:.2f} us a row, limit {LIMIT_MICROSECONDS:.0f}")
    return 0 if slowest <= LIMIT_MICROSECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
