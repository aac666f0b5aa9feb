"""Runs a layer's SQL or function over rows of its sources.

What Spark made of it is looked at before it runs: rows of the source that changes may pass through
nothing that looks at several of them together.
"""

import importlib
import itertools
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from pipelines.incremental.domain.definitions import Layer, check_function
from pipelines.incremental.domain.statements import check_statement, rendered
from portal.lake.errors import PortalError, RuleViolation
from portal.spark.java_errors import JAVA_ERRORS

_NUMBERS = itertools.count(1)
_LONGEST = 300
_TOGETHER = frozenset(
    {
        *("Aggregate", "AggregateInPandas", "Deduplicate", "Distinct", "Except", "Expand"),
        *("FlatMapGroupsInPandas", "GlobalLimit", "GroupingSets", "Intersect", "LocalLimit"),
        *("MapGroups", "Offset", "Pivot", "Sample", "Tail", "Window", "WindowInPandas"),
        *("FlatMapCoGroupsInPandas", "FlatMapGroupsInPandasWithState", "Unpivot"),
    }
)
_KEEPS_LEFT = frozenset({"INNER", "CROSS", "LEFT OUTER", "LEFT SEMI", "LEFT ANTI"})
_KEEPS_RIGHT = frozenset({"INNER", "CROSS", "RIGHT OUTER"})


def transformed(
    spark: SparkSession,
    layer: Layer,
    rows: DataFrame,
    static: Mapping[str, DataFrame],
    *,
    modules: Collection[str],
) -> DataFrame:
    """Return the rows of the result that some rows of the changing source make.

    Raises:
        RuleViolation: `layer.statement`, `layer.definition`, `layer.function`.
    """
    view = f"lw_layer_rows_{next(_NUMBERS)}"
    rows.createOrReplaceTempView(view)
    if layer.function:
        module, name = check_function(layer.function, modules)
        found = _called(module, name, spark.table(view), static)
    else:
        check_statement(layer.sql, changing=layer.changing, static=layer.static)
        names = {layer.changing: view}
        for table, frame in static.items():
            names[table] = f"lw_layer_rows_{next(_NUMBERS)}"
            frame.createOrReplaceTempView(names[table])
        found = spark.sql(rendered(layer.sql, names))
    _check_plan(found, view)
    return found


def _called(module: str, name: str, rows: DataFrame, static: Mapping[str, DataFrame]) -> DataFrame:
    try:
        function = getattr(importlib.import_module(module), name)
    except Exception as error:  # importing it runs its code
        raise RuleViolation(
            "layer.function",
            f"{module}:{name} cannot be imported where Spark's driver runs: {error}.",
            field="function",
        ) from error
    try:
        found = function(rows, dict(static))
    except (PortalError, *JAVA_ERRORS):
        raise
    except Exception as error:
        raise RuleViolation(
            "layer.function",
            f"{module}:{name} raised {type(error).__name__}: {str(error)[:_LONGEST]}",
            field="function",
        ) from error
    if not isinstance(found, DataFrame):
        raise RuleViolation(
            "layer.function", f"{module}:{name} returned no DataFrame.", field="function"
        )
    return found


def _check_plan(frame: DataFrame, view: str) -> None:
    java: Any = frame._jdf
    plan = java.queryExecution().analyzed()
    if not _reads(plan, view):
        raise RuleViolation(
            "layer.function", "It does not use the rows that it is given.", field="function"
        )


def _reads(plan: Any, view: str) -> bool:
    """Return whether a part of a plan reads the rows; refuse what is not row by row then."""
    name = str(plan.nodeName())
    if name == "SubqueryAlias" and str(plan.alias()) == view:
        return True
    reading = [_reads(child, view) for child in _listed(plan.children())]
    if not any(reading):
        return False
    if name in _TOGETHER:
        raise _not_by_rows(f"{name} looks at several rows together")
    if not all(bool(one.deterministic()) for one in _listed(plan.expressions())):
        raise _not_by_rows(f"{name} returns something else at each call")
    if name == "Join":
        kind = str(plan.joinType().sql())
        if all(reading):
            raise _not_by_rows("it joins the rows with themselves")
        if kind not in (_KEEPS_LEFT if reading[0] else _KEEPS_RIGHT):
            raise _not_by_rows(f"{kind} JOIN makes rows of rows that are not there")
    return True


def _listed(found: Any) -> Iterator[Any]:
    ones = found.iterator()
    while ones.hasNext():
        yield ones.next()


def _not_by_rows(reason: str) -> RuleViolation:
    return RuleViolation(
        "layer.function",
        f"It cannot be kept row by row: {reason}. Define a materialization for aggregates.",
        field="function",
    )
