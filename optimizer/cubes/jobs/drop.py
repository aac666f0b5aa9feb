"""The program `drop`: takes the table of a cube away, and nothing else.

A table is dropped only where it says of itself that it is this cube of this table, and all its
files lie in its own folder. So a table that somebody made under the name stays, and so do files of
other tables that somebody added to it.
"""

from typing import Any

from pyspark.sql import SparkSession

from optimizer.cubes.domain.definition import CUBES_PROPERTY, DEFINITION_PROPERTY, parse
from optimizer.iceberg.access.jobs.errors import GONE, clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, open_table, use_iceberg
from portal.lake.errors import PortalError, RuleViolation
from portal.spark.job import JobContext


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Drop the cube of the request; one that is gone already is no error.

    Raises:
        RuleViolation: `cube.not_ours`, the table is not dropped, with the reason.
    """
    use_iceberg(spark, job.config)
    params = job.params
    db, name = params["db"], f"{params['table']}__cube_{params['name']}"
    job.progress("drop", 0, 1, f"{db}.{name}")
    _forget(spark, params, f"{db}.{name}")
    try:
        cube = open_table(spark, db, name)
    except PortalError as error:
        if error.code != GONE:
            raise
        return {"words": f"{db}.{name} was gone already."}
    check_ours(cube, params)
    job.check_control()
    n_bytes = cube.totals().get("n_bytes", 0)
    with clear_errors(cube.name):
        spark.sql(f"DROP TABLE {cube.sql} PURGE")
    job.progress("drop", 1, 1)
    return {"words": f"{cube.name} is dropped, with {n_bytes:,} bytes of files."}


def check_ours(cube: IcebergTable, params: dict[str, Any]) -> None:
    """Refuse a table that is not the cube that is meant, or that has files elsewhere.

    Raises:
        RuleViolation: `cube.not_ours`.
    """
    text = cube.properties.get(DEFINITION_PROPERTY)
    if text is None:
        raise _not_ours(cube, f"it has no property {DEFINITION_PROPERTY}")
    found = parse(text)
    if (found.name, found.table_uuid) != (params["name"], params["uuid"]):
        raise _not_ours(cube, f"it is the cube {found.name} of {found.table} {found.table_uuid}")
    if params["cube_uuid"] and params["cube_uuid"] != cube.uuid:
        raise _not_ours(cube, "another table was made under its name since it was built")
    if not cube.location.lower().endswith(f"/{cube.table.lower()}"):
        raise _not_ours(cube, f"its folder {cube.location} is not named like it")
    outside = cube.spark.table(f"{cube.sql}.all_files").where(
        f"not startswith(file_path, '{cube.location.replace(chr(39), '')}/')"
    )
    with clear_errors(cube.name):
        first = outside.select("file_path").first()
    if first is not None:
        raise _not_ours(cube, f"it holds files of other folders, such as {first[0]}")


def _forget(spark: SparkSession, params: dict[str, Any], name: str) -> None:
    """Take the cube out of the property by which engines find it; they stop using it first."""
    try:
        fact = open_table(spark, params["db"], params["table"], uuid=params["uuid"])
    except PortalError:
        return  # the table is gone or replaced: nobody looks for its cubes
    listed = [one.strip() for one in fact.properties.get(CUBES_PROPERTY, "").split(",")]
    if name not in listed:
        return
    left = ",".join(one for one in listed if one and one != name)
    with clear_errors(fact.name):
        update = fact.java.updateProperties()
        update = update.set(CUBES_PROPERTY, left) if left else update.remove(CUBES_PROPERTY)
        update.commit()


def _not_ours(cube: IcebergTable, reason: str) -> RuleViolation:
    return RuleViolation(
        "cube.not_ours",
        f"{cube.name} was not dropped: {reason}. Look at it, and drop it by hand if nobody needs "
        "it.",
        table=cube.name,
    )
