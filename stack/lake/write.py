"""How Spark writes one described table: Hive and Spark tables in bulk, odd values by INSERT."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from portal.lake.names import quoted
from stack.lake.specs import Maker, Part, TableSpec

_COLUMNS = {"text": "line string"}
DEFAULT_COLUMNS = "id bigint, name string, amount double"


def _literal(text: str) -> str:
    """Return a Spark SQL string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def create_statement(spec: TableSpec, *, location: str) -> str:
    """Return the CREATE TABLE of a described table."""
    columns = _COLUMNS.get(spec.format, DEFAULT_COLUMNS)
    keys = ", ".join(f"{quoted(key)} string" for key in spec.keys)
    external = location and spec.maker is not Maker.DATASOURCE
    head = f"create {'external ' if external else ''}table {quoted(spec.db)}.{quoted(spec.name)}"
    properties = ", ".join(f"{_literal(k)}={_literal(v)}" for k, v in spec.parameters.items())
    tail = f" location {_literal(location)}" if location else ""
    tail += f" tblproperties ({properties})" if properties else ""
    if spec.maker is Maker.DATASOURCE:
        by = f" partitioned by ({', '.join(map(quoted, spec.keys))})" if keys else ""
        listed = f"{columns}, {keys}" if keys else columns
        return f"{head} ({listed}) using {spec.format}{by}{tail}"
    by = f" partitioned by ({keys})" if keys else ""
    stored = "textfile" if spec.format == "text" else spec.format
    return f"{head} ({columns}){by} stored as {stored}{tail}"


def _rows(spark: SparkSession, spec: TableSpec) -> DataFrame:
    """Return the table's plain columns, without keys."""
    n_rows = spec.n_rows
    frame = spark.range(n_rows).repartition(1)
    if spec.format == "text":
        return frame.selectExpr("concat_ws(' ', 'line', cast(id as string)) as line")
    return frame.selectExpr("id", "concat('n', id) as name", "id * 1.5D as amount")


def _partition_frame(spark: SparkSession, spec: TableSpec, parts: Sequence[Part]) -> DataFrame:
    """Return rows for every partition, each partition's in one task so that it becomes one file."""
    schema = StructType([StructField(key, StringType()) for key in spec.keys])
    keys = spark.createDataFrame([part.values for part in parts], schema)
    if spec.format == "text":
        plain = [f"concat('line of ', coalesce({quoted(spec.keys[0])}, 'none')) as line"]
    else:
        plain = ["1L as id", "'one' as name", "1.5D as amount"]
    return keys.selectExpr(*plain, *map(quoted, spec.keys)).repartition(4, *spec.keys)


def write_table(spark: SparkSession, spec: TableSpec, *, location: str) -> None:
    """Create the table and fill it."""
    name = f"{quoted(spec.db)}.{quoted(spec.name)}"
    spark.sql(create_statement(spec, location=location))
    if not spec.keys:
        _rows(spark, spec).write.insertInto(name)
    elif spec.maker is Maker.HIVE:
        _write_and_recover(spark, spec, name=name)
    else:
        _partition_frame(spark, spec, spec.parts).write.insertInto(name)


def _write_and_recover(spark: SparkSession, spec: TableSpec, *, name: str) -> None:
    """Write the partitions' directories in one job, then let Spark register what it finds."""
    rows = spark.sql(f"describe formatted {name}").where("col_name = 'Location'").collect()
    place = rows[0]["data_type"]
    frame = _partition_frame(spark, spec, spec.parts)
    writer = frame.write.mode("append").partitionBy(*spec.keys).format(spec.format)
    # The marker of a finished job would lie in the table's folder as a stray file.
    writer.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false").save(place)
    spark.sql(f"alter table {name} recover partitions")
