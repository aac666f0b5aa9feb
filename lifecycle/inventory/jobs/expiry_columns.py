"""The age rule of `lifecycle.expiry.domain.rule` as Spark columns, for millions of rows.

`judge` there is the reference and a property test compares the two row by row. Input columns carry
the names of `ExpiryFacts`; change the rule there first. Rows carry the rule and its detail, not the
words: a million sentences cost more than the judgement, and readers make them (`expiry_words`).
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lifecycle.expiry.domain.rule import (
    ABSURD,
    DAY_MS,
    DETAILS,
    LATEST_MS,
    RULES,
    Directory,
    Rule,
    Terms,
    Winner,
)


def is_near(updated_ms: Column, terms: Terms) -> Column:
    """Whether an item with this update time and its `ttl` is due within the notice days."""
    due = updated_ms + F.col("ttl").cast("long") * DAY_MS
    return F.lit(terms.now_ms) >= due - terms.soon_days * DAY_MS


def newest_near(terms: Terms) -> Column:
    """Return the newest change of files, in epoch milliseconds, that `is_near` still holds for."""
    return F.lit(terms.now_ms + terms.soon_days * DAY_MS - 1) - F.col("ttl").cast("long") * DAY_MS


def metastore_ms() -> Column:
    """Return the metastore's clock: the DDL time, else the creation time; 0 counts as absent."""
    return (
        F.when(F.coalesce(F.col("ddl_time"), F.lit(0)) != 0, F.col("ddl_time"))
        .when(F.coalesce(F.col("create_time"), F.lit(0)) != 0, F.col("create_time"))
        .cast("long")
        * 1000
    )


def _plausible(items: DataFrame) -> DataFrame:
    """Take away times of files that cannot be true, as `expiry.plausible` does."""
    absurd = _is_absurd(F.col("mtime_ms")) | _is_absurd(F.col("atime_ms"))
    return (
        items.withColumn("_absurd", absurd)
        .withColumns(
            {
                "mtime_ms": F.when(~F.col("_absurd"), F.col("mtime_ms")),
                "atime_ms": F.when(~F.col("_absurd"), F.col("atime_ms")),
                "fs_error": F.coalesce("fs_error", F.when(F.col("_absurd"), F.lit(ABSURD))),
            }
        )
        .drop("_absurd")
    )


def _is_absurd(time_ms: Column) -> Column:
    return F.coalesce(~time_ms.between(0, LATEST_MS), F.lit(col=False))


def with_judgement(items: DataFrame, terms: Terms) -> DataFrame:
    """Add the class, the rule that decided with its detail, the clocks and the due day."""
    items = _plausible(items)
    metastore, mtime = metastore_ms(), F.col("mtime_ms")
    files_win = mtime.isNotNull() & (metastore.isNull() | (mtime > metastore))
    has_ddl = F.coalesce(F.col("ddl_time"), F.lit(0)) != 0
    clocks = items.withColumns(
        {
            "updated_ms": F.when(files_win, mtime + 1).otherwise(metastore + 1),
            "winner": F.when(files_win, F.lit(Winner.MTIME.value))
            .when(metastore.isNull(), F.lit(None))
            .when(has_ddl, F.lit(Winner.DDL.value))
            .otherwise(F.lit(Winner.CREATE.value)),
        }
    )
    due = clocks.withColumn("due_ms", F.col("updated_ms") + F.col("ttl").cast("long") * DAY_MS)
    ruled = due.withColumns(
        {"due_on": F.to_date(_local(F.col("due_ms"), terms)), "_rule": _rule_number(terms)}
    )
    return ruled.withColumns(
        {
            "cls": _by_number([cls.value for _, cls, _ in RULES]),
            "rule": _by_number([rule.value for rule, _, _ in RULES]),
            "detail": _detail(),
        }
    ).drop("_rule")


def _rule_number(terms: Terms) -> Column:
    """Return the place in RULES, from 1, of the first rule that holds; the last always does."""
    conditions = _conditions(terms)
    rules = [rule for rule, _, _ in RULES]
    chain = F.when(conditions[rules[0]], F.lit(1))
    for number, rule in enumerate(rules[1:-1], start=2):
        chain = chain.when(conditions[rule], F.lit(number))
    return chain.otherwise(F.lit(len(rules)))


def _by_number(values: list[str]) -> Column:
    return F.element_at(F.array(*[F.lit(value) for value in values]), F.col("_rule"))


def _detail() -> Column:
    """Return what only the rule that decided knows, as `DETAILS` does."""
    numbers = {rule: number for number, (rule, _, _) in enumerate(RULES, start=1)}
    said = {
        Rule.UNSUPPORTED: F.col("unsupported"),
        Rule.POLICY_PROBLEM: F.col("problem"),
        Rule.NONCONFORMING: F.array_join("nonconforming", ", "),
        Rule.HELD: F.col("hold"),
        Rule.NOT_LOOKED: F.coalesce(F.col("fs_error"), F.lit("")),
    }
    chain = F.lit("")
    for rule in DETAILS:
        chain = F.when(F.col("_rule") == numbers[rule], said[rule]).otherwise(chain)
    return chain


def _conditions(terms: Terms) -> dict[Rule, Column]:
    """Return the condition of every rule but the last, which always holds."""
    now = F.lit(terms.now_ms)
    read_ms = F.coalesce(F.col("atime_ms"), F.lit(-1))
    not_looked = F.col("directory") == Directory.NOT_LOOKED.value
    return {
        Rule.UNSUPPORTED: F.col("unsupported") != "",
        Rule.POLICY_PROBLEM: F.col("problem") != "",
        Rule.KEEP_FOREVER: F.coalesce(F.col("level") == 0, F.lit(col=False)),
        Rule.NO_POLICY: F.col("level").isNull() | F.col("ttl").isNull(),
        Rule.NONCONFORMING: F.size("nonconforming") > 0,
        Rule.MISSING_DIRECTORY: F.col("directory") == Directory.MISSING.value,
        Rule.UNREADY: ~F.col("ready"),
        Rule.HELD: F.col("hold") != "",
        Rule.NO_CLOCK: F.col("updated_ms").isNull(),
        Rule.NOT_NOW: ~is_near(F.col("updated_ms"), terms),
        Rule.NOT_LOOKED: not_looked | F.col("mtime_ms").isNull(),
        Rule.SOON: now < F.col("due_ms"),
        Rule.READS_UNKNOWN: F.col("atime_ms").isNull()
        & ~(F.coalesce(F.col("n_files"), F.lit(-1)) == 0),
        Rule.STILL_READ: F.col("atime_ms").isNotNull()
        & (read_ms > F.coalesce(F.col("mtime_ms"), F.lit(0)))
        & (now - read_ms <= terms.still_read_days * DAY_MS),
    }


def _local(milliseconds: Column, terms: Terms) -> Column:
    # The session's time zone is UTC, so this shifts an instant to the lake's wall clock.
    return F.from_utc_timestamp(F.timestamp_millis(milliseconds), str(terms.zone))
