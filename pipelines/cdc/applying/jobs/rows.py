"""Casts changes of a table to the columns of the lake, newest version of each key alone."""

from collections.abc import Collection, Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from pipelines.cdc.applying.domain.casts import cast_sql
from pipelines.cdc.applying.domain.hudi_settings import key_columns
from pipelines.cdc.applying.domain.messages import SchemaPlan, TableOrder
from pipelines.cdc.protecting.jobs.columns import protected, protectors

_UNFIT = "STRUCT<reason: STRING, column: STRING, text: STRING>"


def newest(changes: DataFrame, order: TableOrder) -> DataFrame:
    """Keep the newest version of each key; `is_torn` says that it has two contents.

    The sum of `n_of_key` is how many changes there were.
    """
    keyed = changes.withColumn("id", key_text(order)).withColumn("is_delete", F.col("op") == "d")
    content = F.concat_ws(":", "is_delete", "after")
    of_key = Window.partitionBy("id")
    known = keyed.withColumn("top", F.max("version").over(of_key))
    ranked = known.withColumn("n_of_key", F.count("*").over(of_key)).where("version = top")
    is_torn = F.min(content).over(of_key) != F.max(content).over(of_key)
    first = F.row_number().over(of_key.orderBy("number", "value"))
    return (
        ranked.withColumn("is_torn", is_torn)
        .withColumn("nth", first)
        .where("nth = 1 OR is_torn")
        .withColumn("n_of_key", F.when(F.col("nth") == 1, F.col("n_of_key")).otherwise(0))
        .drop("top", "nth")
    )


def cast(changes: DataFrame, order: TableOrder, plans: Sequence[SchemaPlan]) -> DataFrame:
    """Add `row`, the columns of the target, and `unfit`, what does not fit them.

    Of a delete only the key and the partition are looked at. Protected values are protected before
    anything else sees them.

    Raises:
        RuleViolation: `cdc.key_missing`, `cdc.key`.
    """
    by_column = protectors(order.target, order.protections)
    sources = sorted({name for plan in plans for name in plan.live})
    shape = ", ".join(f"{_quoted(name)} STRING" for name in sources)
    image = F.from_json(F.coalesce("after", "before"), f"STRUCT<{shape}>")
    read = changes.withColumn("image", image)
    texts = [
        protected(_text(column.name, order, plans), by_column.get(column.name)).alias(f"t{n}")
        for n, column in enumerate(order.columns)
    ]
    read = read.select(*changes.columns, *texts)
    values = [
        F.expr(cast_sql(f"t{n}", column.type)).alias(column.name)
        for n, column in enumerate(order.columns)
    ]
    read = read.select(*read.columns, F.struct(*values).alias("row"))
    needed = {*key_columns(order), order.partition}
    checks = [
        _unfit(n, column.name, is_always=column.name in needed)
        for n, column in enumerate(order.columns)
        if column.type != "string"
    ]
    torn = F.when(F.col("is_torn"), _named("conflict", "", F.lit(None)))
    key = F.lit(None) if set(key_columns(order)) & by_column.keys() else F.to_json("key")
    nameless = F.when(_any_null(order), _named("key", ",".join(order.key), key))
    found = F.array_compact(F.array(torn, nameless, *checks)).cast(f"ARRAY<{_UNFIT}>")
    return read.select(*changes.columns, "row", found.alias("unfit"))


def key_text(order: TableOrder) -> Column:
    """Return the key as one text; equal keys of the source have equal texts."""
    return F.to_json(F.struct(*(F.col("key")[name].alias(name) for name in order.key)))


def target_rows(order: TableOrder, columns: Collection[str] = ()) -> list[Column]:
    """Return the target's columns out of `row`, or some of them."""
    wanted = [one.name for one in order.columns if not columns or one.name in columns]
    return [F.col("row")[name].alias(name) for name in wanted]


def _text(column: str, order: TableOrder, plans: Sequence[SchemaPlan]) -> Column:
    """Return the text that a column of the target gets under each of the plans."""
    by_source: dict[str, list[int]] = {}
    for plan in plans:
        for source, target in plan.live.items():
            if target == column:
                by_source.setdefault(source, []).append(plan.number)
    result = F.lit(None).cast("string")
    for source, numbers in by_source.items():
        value = F.col("key")[source] if source in order.key else F.col("image")[source]
        if len(numbers) == len(plans):
            return value
        result = F.when(F.col("schema").isin(numbers), value).otherwise(result)
    return result


def _unfit(n: int, column: str, *, is_always: bool) -> Column:
    text = F.col(f"t{n}")
    is_unfit = text.isNotNull() & F.col("row")[column].isNull()
    if not is_always:
        is_unfit &= ~F.col("is_delete")
    return F.when(is_unfit, _named("type", column, text))


def _named(reason: str, column: str, text: Column) -> Column:
    return F.struct(
        F.lit(reason).alias("reason"),
        F.lit(column).alias("column"),
        text.cast("string").alias("text"),
    )


def _any_null(order: TableOrder) -> Column:
    return F.exists(F.array(*(F.col("key")[name] for name in order.key)), F.isnull)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
