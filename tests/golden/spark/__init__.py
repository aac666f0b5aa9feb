"""Queries of a real Spark 3.5, as its listener told of them.

`python -m tests.golden.spark.make` records them anew, from `tests/support/query_teller.py`. The
application that ran them is not in it.
"""

import gzip
import json
from pathlib import Path
from typing import Any

QUERIES = Path(__file__).with_name("queries.jsonl.gz")
APPLICATION = {"id": "local-1", "name": "reports", "user": "analyst", "version": "3.5.9"}


def told() -> list[dict[str, Any]]:
    """Return each query with its `name`, in order; one that ran twice is there twice."""
    with gzip.open(QUERIES, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def query(name: str) -> dict[str, Any]:
    """Return the first query of a name."""
    return next(one["query"] for one in told() if one["name"] == name)
