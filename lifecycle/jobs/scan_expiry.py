"""The age rule of `lifecycle.domain.expiry` as Spark columns, for millions of rows.

`judge` there is the reference and a property test compares the two row by row, words included.
Input columns carry the names of `ExpiryFacts`; change the rule there first.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lifecycle.domain.expiry import DAY_MS, Directory, ExpiryClass, Terms, Winner
from lifecycle.jobs.scan_tables import POLICY_SOURCE

JUDGED = ("cls", "reason", "updated_ms", "winner", "due_ms", "due_on")


def is_near(updated_ms: Column, terms: Terms) -> Column:
    """Whether an item with this update time and its `ttl` is due within the notice days."""
    due = updated_ms + F.col("ttl").cast("long") * DAY_MS
    return F.lit(terms.now_ms) >= due - terms.soon_days * DAY_MS


def metastore_ms() -> Column:
    """Give the metastore's clock: the DDL time, else the creation time; 0 counts as absent."""
    return (
        F.when(F.coalesce(F.col("ddl_time"), F.lit(0)) != 0, F.col("ddl_time"))
        .when(F.coalesce(F.col("create_time"), F.lit(0)) != 0, F.col("create_time"))
        .cast("long")
        * 1000
    )


def with_judgement(items: DataFrame, terms: Terms) -> DataFrame:
    """Add the class, why in words, the clocks and the due day to every row."""
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
    dated = due.withColumn("due_on", F.to_date(_local(F.col("due_ms"), terms)))
    # One column each for the number of the rule and for the clocks' words: several rules say them,
    # and the optimizer does not repeat a column that costs something.
    ruled = dated.withColumn("_rule", _rule_number(terms))
    first_with_clocks = _first_with_clocks(terms)
    spoken = F.when(F.col("_rule") >= first_with_clocks, _clocks(terms))
    worded = ruled.withColumn("_clocks", spoken)
    return worded.withColumns({"cls": _by_rule(terms, 0), "reason": _by_rule(terms, 2)}).drop(
        "_rule", "_clocks"
    )


def _rule_number(terms: Terms) -> Column:
    """Give the place of the first rule that holds; the last one always does."""
    rules = _rules(terms)
    chain = F.when(rules[0][1], F.lit(0))
    for number, (_, holds, _) in enumerate(rules[1:], start=1):
        chain = chain.when(holds, F.lit(number))
    return chain.otherwise(F.lit(len(rules)))


def _by_rule(terms: Terms, part: int) -> Column:
    """Give the class (part 0) or the words (part 2) of the rule that held."""
    rules = [rule[part] for rule in _rules(terms)] + [_last_rule(terms)[part]]
    said = [F.lit(value) if isinstance(value, str) else value for value in rules]
    chain = F.when(F.col("_rule") == 0, said[0])
    for number, value in enumerate(said[1:-1], start=1):
        chain = chain.when(F.col("_rule") == number, value)
    return chain.otherwise(said[-1])


def _last_rule(terms: Terms) -> tuple[str, Column, Column]:
    read = _minute(F.col("atime_ms"), terms)
    words = F.concat("_clocks", F.lit(" Last read "), read, F.lit("."))
    return ExpiryClass.CLEAN_NOW.value, F.lit(col=True), words


def _first_with_clocks(terms: Terms) -> int:
    return [cls for cls, _, _ in _rules(terms)].index(ExpiryClass.NOT_NOW.value)


def _rules(terms: Terms) -> list[tuple[str, Column, Column]]:
    """Give (class, condition, words) in order; what is left is CLEAN_NOW."""
    now = F.lit(terms.now_ms)
    clocks = F.col("_clocks")
    missing = F.col("directory") == Directory.MISSING.value
    not_looked = F.col("directory") == Directory.NOT_LOOKED.value
    read_ms = F.coalesce(F.col("atime_ms"), F.lit(-1))
    was_read = (
        F.col("atime_ms").isNotNull()
        & (read_ms > F.coalesce(F.col("mtime_ms"), F.lit(0)))
        & (now - read_ms <= terms.still_read_days * DAY_MS)
    )
    no_reads_known = F.col("atime_ms").isNull() & ~(F.coalesce(F.col("n_files"), F.lit(-1)) == 0)
    reasons = F.concat(
        F.lit("Path rules are broken: "), F.array_join("nonconforming", ", "), F.lit(".")
    )
    read_words = F.concat(
        clocks, F.lit(" But it was last read "), _minute(F.col("atime_ms"), terms), F.lit(".")
    )
    cls = ExpiryClass
    return [
        (cls.UNSUPPORTED.value, F.col("unsupported") != "", F.col("unsupported")),
        (cls.NOT_ENROLLED.value, F.col("problem") != "", F.col("problem")),
        (
            cls.KEEP_FOREVER.value,
            F.coalesce(F.col("level") == 0, F.lit(col=False)),
            F.lit(f"LEVEL 0 in {POLICY_SOURCE}: kept for ever."),
        ),
        (
            cls.NOT_ENROLLED.value,
            F.col("level").isNull() | F.col("ttl").isNull(),
            F.lit("The table has no LEVEL and TTL of its own, so it takes no part in lifecycle."),
        ),
        (cls.NONCONFORMING.value, F.size("nonconforming") > 0, reasons),
        (
            cls.MISSING_DIRECTORY.value,
            missing,
            F.lit("The metastore names a directory that does not exist."),
        ),
        (
            cls.UNREADY.value,
            ~F.col("ready"),
            F.lit("commit=false: its data is not complete yet."),
        ),
        (cls.HELD.value, F.col("hold") != "", F.concat(F.lit("Held: "), F.col("hold"))),
        (
            cls.UNKNOWN.value,
            F.col("updated_ms").isNull(),
            F.lit("Neither the metastore nor the file system gives a time."),
        ),
        (cls.NOT_NOW.value, ~is_near(F.col("updated_ms"), terms), clocks),
        (
            cls.UNKNOWN.value,
            not_looked | F.col("mtime_ms").isNull(),
            F.concat(clocks, F.lit(" The files were not looked at, so it may be younger.")),
        ),
        (cls.SOON.value, now < F.col("due_ms"), clocks),
        (
            cls.UNKNOWN.value,
            no_reads_known,
            F.concat(clocks, F.lit(" Access time is off here, so nobody can say it is unread.")),
        ),
        (cls.STILL_READ.value, was_read, read_words),
    ]


def _local(milliseconds: Column, terms: Terms) -> Column:
    # The session's time zone is UTC, so this shifts an instant to the lake's wall clock.
    return F.from_utc_timestamp(F.timestamp_millis(milliseconds), str(terms.zone))


def _minute(milliseconds: Column, terms: Terms) -> Column:
    said = F.date_format(_local(milliseconds, terms), "yyyy-MM-dd HH:mm")
    return F.coalesce(said, F.lit("unknown"))


def _clocks(terms: Terms) -> Column:
    has_ddl = F.coalesce(F.col("ddl_time"), F.lit(0)) != 0
    files = F.when(F.col("mtime_ms").isNull(), F.lit("not looked at")).otherwise(
        F.concat(F.lit("changed "), _minute(F.col("mtime_ms"), terms))
    )
    wins = F.when(F.col("winner") == Winner.MTIME.value, F.lit("files")).otherwise("metadata")
    return F.concat(
        F.when(has_ddl, F.lit("Metadata changed ")).otherwise(F.lit("Created (no DDL time) ")),
        _minute(metastore_ms(), terms),
        F.lit(", files "),
        files,
        F.lit("; the later counts ("),
        wins,
        F.lit("). TTL "),
        F.col("ttl").cast("string"),
        F.lit(f" days from {POLICY_SOURCE}: due "),
        F.date_format("due_on", "yyyy-MM-dd"),
        F.lit("."),
    )
