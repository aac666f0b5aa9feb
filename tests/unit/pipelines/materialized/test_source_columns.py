"""Which columns of a source a materialization cannot be told apart from its own."""

from typing import cast

import pytest
from pyspark.sql import SparkSession

from pipelines.cdc.applying.domain.hudi_settings import VERSION
from pipelines.commits.jobs.changes import WEIGHT
from pipelines.materialized.domain.definition import read_definition
from pipelines.materialized.jobs.projection import Projection
from portal.lake.errors import RuleViolation

DEFINITION = read_definition("SELECT state, count(*) AS n FROM shop.orders GROUP BY state")
PROJECTION = Projection(cast("SparkSession", None), DEFINITION)


def test_a_captured_table_may_be_materialized() -> None:
    PROJECTION.check_names(DEFINITION.fact, ["id", "state", VERSION])


@pytest.mark.parametrize("column", ["_LW_group", WEIGHT])
def test_a_column_of_the_programs_is_refused(column: str) -> None:
    with pytest.raises(RuleViolation, match="a name that Lakewarden uses itself"):
        PROJECTION.check_names(DEFINITION.fact, ["id", column, "state"])
