"""A stream into an Iceberg table: python -m stack.lake.stream LAKES_JSON REPORT_URI TOKEN_FILE.

Every beat commits a few small files to the partition of the day, some beats delete rows as well;
so health falls, and whoever looks after the table has to bring it back. The table itself remembers
how far the stream has come: a writer that was killed goes on where it stood, and one that was done
has nothing to do. Between beats the readers of other tables ask in the same session, because one
more Spark would take as much memory again.
"""

import os
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from portal.connectors.lake_config import load_lakes
from stack.lake import readers
from stack.lake.clicks import COMMITS, COMMITS_VARIABLE, LEFT, LIVE, OWNER, create_sql
from stack.lake.session import ICEBERG, open_small_session
from stack.stack import LAKE

DAYS = 5
FILES_A_DAY = 14
FILES_A_BEAT = 4
ROWS_A_FILE = 3_000
SECONDS = 20.0
# Not every beat, or nothing could be rewritten in between; of so many users each time.
_DELETES = 8
_ROBOTS = 8
_BEAT = "stream.beat"
_TRIES = 2

_PAGES = ("home", "search", "product", "basket", "checkout", "account", "help", "imprint")
_COUNTRIES = ("at", "ch", "de", "dk", "fr", "nl", "pl", "se")
_USERS = 50_000


@dataclass(frozen=True)
class Stream:
    """A table of clicks by its name in Spark, and who writes it."""

    spark: SparkSession
    table: str

    def make(self, *, now: datetime) -> None:
        """Make the table with its history in one commit; one that has any is left as it is."""
        self.spark.sql(create_sql(self.table))
        if self._snapshots().limit(1).count():
            return
        today = now.replace(hour=0, minute=0, second=0, microsecond=0)
        days = [
            self._clicks(
                since=today - timedelta(days=age),
                seconds=86_400,
                n_files=FILES_A_DAY,
                seed=100 * age,
            )
            for age in range(1, DAYS + 1)
        ]
        reduce(DataFrame.unionAll, days).writeTo(self.table).append()

    def n_beats(self) -> int:
        """Return how many beats the table has seen, by its own snapshots."""
        said = F.element_at("summary", _BEAT).cast("int").alias("beat")
        return self._snapshots().select(said).agg(F.max("beat")).collect()[0][0] or 0

    def beat(self, number: int, *, now: datetime) -> None:
        """Commit the clicks of some seconds; every eighth time robots are taken out of the day."""
        clicks = self._clicks(
            since=now - timedelta(seconds=SECONDS),
            seconds=SECONDS,
            n_files=FILES_A_BEAT,
            seed=1_000 * number,
        )
        clicks.writeTo(self.table).option(f"snapshot-property.{_BEAT}", str(number)).append()
        if number % _DELETES == 0:
            self.spark.sql(
                "DELETE FROM IDENTIFIER(:table) WHERE at >= :since AND user_id % :n = :rest",
                {
                    "table": self.table,
                    "since": now.replace(hour=0, minute=0, second=0, microsecond=0),
                    "n": _ROBOTS,
                    "rest": number // _DELETES % _ROBOTS,
                },
            )

    def _snapshots(self) -> DataFrame:
        return self.spark.table(f"{self.table}.snapshots")

    def _clicks(self, *, since: datetime, seconds: float, n_files: int, seed: int) -> DataFrame:
        """Return clicks from an instant on, in as many tasks as files are wanted.

        The same arguments give the same clicks.
        """
        first = since.timestamp()

        def one_of(words: tuple[str, ...], at: int) -> str:
            found = ", ".join(f"'{word}'" for word in words)
            return f"element_at(array({found}), cast(rand({at}) * {len(words)} AS int) + 1)"

        return self.spark.range(0, n_files * ROWS_A_FILE, 1, n_files).selectExpr(
            f"timestamp_micros(cast(({first} + rand({seed}) * {seconds}) * 1e6 AS bigint)) at",
            f"cast(rand({seed + 1}) * {_USERS} AS bigint) user_id",
            f"{one_of(_PAGES, seed + 2)} page",
            f"{one_of(_COUNTRIES, seed + 3)} country",
            f"cast(20 + rand({seed + 4}) * 3000 AS int) ms",
            f"substr(sha2(cast(rand({seed + 5}) AS string), 256), 1, 20) session",
        )


def make_clicks(spark: SparkSession, *, now: datetime) -> None:
    """Make both tables of the demo in a session with the catalog of Iceberg."""
    for name in (LIVE, LEFT):
        Stream(spark, f"{ICEBERG}.{name.db}.{name.table}").make(now=now)


def main() -> None:
    """Beat until the last one; a metastore that is away costs a beat, and twice as many at most."""
    n_wanted = int(os.environ.get(COMMITS_VARIABLE, COMMITS))
    config, uri, token_file = load_lakes(Path(sys.argv[1]))[LAKE], sys.argv[2], Path(sys.argv[3])
    more = readers.settings(config, report_uri=uri, token_file=token_file)
    spark = open_small_session(config, user=OWNER, more=more)
    asking = readers.Readers(spark)
    stream = Stream(spark, f"{ICEBERG}.{LIVE.db}.{LIVE.table}")
    for _ in range(_TRIES * n_wanted):
        started = time.monotonic()
        try:
            number = stream.n_beats() + 1
            if number > n_wanted:
                break
            stream.beat(number, now=datetime.now(UTC))
            print(f"Beat {number} of {n_wanted} is written to {LIVE}.", flush=True)
        except (PySparkException, Py4JError) as error:
            print(f"A beat failed: {str(error)[:500]}", flush=True)
        try:
            print(f"Read {asking.ask()}; {asking.look_up()}", flush=True)
        except (PySparkException, Py4JError) as error:
            print(f"A reader was not answered: {str(error)[:500]}", flush=True)
        time.sleep(max(0.0, SECONDS - (time.monotonic() - started)))
    print(f"The stream into {LIVE} has ended after {stream.n_beats()} beats.", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
