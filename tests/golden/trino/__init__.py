"""Events of Trino 476's HTTP event listener, as a real server sent them.

Left out of them are the plan's text, the statistics of stages and tasks, and all but a few fields
of the context; the machine's paths and addresses are replaced. Two tables: `ev`, in three
partitions by day with three files each, and `dim`.
"""

import gzip
import json
from pathlib import Path
from typing import Any

CATALOG, DB = "lake", "shop"
_EVENTS = Path(__file__).with_name("events.jsonl.gz")


def events() -> list[dict[str, Any]]:
    """Return them all, in their order."""
    with gzip.open(_EVENTS, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def event(begins: str) -> dict[str, Any]:
    """Return the one event whose query begins so."""
    (found,) = [one for one in events() if one["metadata"]["query"].startswith(begins)]
    return found


def row_of(said: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """Return what Trino's MySQL event listener writes of the query of an event."""
    metadata, context, statistics = said["metadata"], said["context"], said["statistics"]
    row = {
        "query_id": metadata["queryId"],
        "query": metadata["query"],
        "query_state": metadata["queryState"],
        "stage_info_json": metadata.get("payload"),
        "user": context["user"],
        "source": context.get("source"),
        "catalog": context.get("catalog"),
        "schema": context.get("schema"),
        "query_type": context.get("queryType"),
        "inputs_json": json.dumps(said["ioMetadata"].get("inputs", [])),
        "wall_time_millis": round(1000 * statistics["wallTime"]),
        "physical_input_bytes": statistics["physicalInputBytes"],
    }
    return {**row, **changed}
