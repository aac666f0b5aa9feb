"""What cubes that queries' groupings speak for would hold, from some files of a table."""

from collections.abc import Mapping, Sequence
from typing import Any

from optimizer.advice.domain.stars.trees import is_worth_a_tree, tree_pays, with_tree
from optimizer.cubes.jobs.estimate import estimated
from optimizer.cubes.jobs.tree_sample import AskedOf
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from portal.lake.errors import PortalError


def cube_options(table: IcebergTable, orders: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the estimate of each order's definition, in their order; `problem` says why not."""
    return [_option(table, one["definition"], one.get("asked", ())) for one in orders]


def _option(
    table: IcebergTable, definition: Mapping[str, Any], asked: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    queries = [AskedOf(one["dimensions"], one["n_queries"]) for one in asked]
    try:
        found = estimated(table, definition)
        if queries and is_worth_a_tree(found):
            treed = estimated(table, with_tree(definition), asked=queries)
            found = treed if tree_pays(treed) else found
    except PortalError as error:
        return {"definition": dict(definition), "problem": error.message}
    return {**found, "problem": _problem(found)}


def _problem(found: Mapping[str, Any]) -> str:
    """Return why the cube would not be built, without values of any table; else nothing."""
    if found["problems"]:
        first = found["problems"][0]
        return str(first.get("brief") or first["message"])
    return "" if found["pays"] else str(found["reason"])
