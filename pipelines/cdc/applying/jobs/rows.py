"""Casts changes of a table to the columns of the lake, newest version of each key alone."""

from collections.abc import Collection, Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from pipelines.cdc.applying.domain.casts import cast_sql
from pipelines.cdc.applying.domain.hudi_settings import key_columns
from pipelines.cdc.applying.domain.messages import SchemaPlan, TableOrder
from pipelines.cdc.protecting.jobs.columns import protected, protectors

_SIDES = ("before", "after")
_UNFIT = "STRUCT<reason: STRING, column: STRING, text: STRING>"


def newest(changes: DataFrame, order: TableOrder, *, is_large: bool) -> DataFrame:
    """Keep the newest version of each key; `is_torn` says that it has two contents.

    The sum of `n_of_key` is how many changes there were. Of many changes, as of a full load, it is
    looked first whether any key has two: to sort whole lines by key costs far more.
    """
    keyed = changes.withColumn("id", key_text(order)).withColumn("is_delete", F.col("op") == "d")
    if is_large and keyed.groupBy("id").count().where("count > 1").isEmpty():
        is_torn = F.lit(None).cast("boolean").alias("is_torn")
        return keyed.select("*", F.lit(1).cast("bigint").alias("n_of_key"), is_torn)
    of_key = Window.partitionBy("id")
    known = keyed.withColumn("top", F.max("version").over(of_key))
    ranked = known.withColumn("n_of_key", F.count("*").over(of_key)).where("version = top")
    # Few keys have more than one change, so that few lines are read for it.
    after = F.from_json("value", "after STRING")["after"]
    content = F.when(F.col("n_of_key") > 1, F.concat_ws(":", "is_delete", after))
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
    anything else sees them. `aside` has the columns that nobody has decided on, `value` the line
    of what does not fit.

    Raises:
        RuleViolation: `cdc.key_missing`, `cdc.key`.
    """
    by_column = protectors(order.target, order.protections)
    sources = sorted({name for plan in plans for name in plan.live})
    aside = sorted({name for plan in plans for name in plan.aside})
    read = changes.withColumn("image", _image({*sources, *aside}))
    texts = [
        protected(_text(column.name, order, plans), by_column.get(column.name)).alias(f"t{n}")
        for n, column in enumerate(order.columns)
    ]
    kept = F.struct(*(F.col("image")[name].alias(name) for name in aside)) if aside else F.lit(None)
    read = read.select(*changes.columns, kept.alias("aside"), *texts)
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
    # Only records that do not fit are needed whole; what is left is cached.
    line = F.when(F.size("unfit") > 0, F.col("value")).alias("value")
    told = [name for name in changes.columns if name not in ("key", "is_torn", "value")]
    return read.select("*", found.alias("unfit")).select(*told, line, "row", "unfit", "aside")


def key_text(order: TableOrder) -> Column:
    """Return the key as one text; equal keys of the source have equal texts."""
    return F.to_json(F.struct(*(F.col("key")[name].alias(name) for name in order.key)))


def target_rows(order: TableOrder, columns: Collection[str] = ()) -> list[Column]:
    """Return the target's columns out of `row`, or some of them."""
    wanted = [one.name for one in order.columns if not columns or one.name in columns]
    return [F.col("row")[name].alias(name) for name in wanted]


def _image(columns: Collection[str]) -> Column:
    """Return columns of the source as texts: after a change, or before a delete."""
    shape = ", ".join(f"{_quoted(name)} STRING" for name in sorted(columns))
    side = {name: F.from_json("value", f"{name} STRUCT<{shape}>")[name] for name in _SIDES}
    return F.when(F.col("op") == "d", side["before"]).otherwise(side["after"])


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
