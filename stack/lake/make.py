"""Makes the Hive part of the demo's lake: python -m stack.lake.make LAKES_JSON.

Databases come through the metastore with their owners, tables and files through Spark; each table
with partitions gets its ages while Spark writes others. `stack.lake.formats` makes the rest.
Lines that begin with `* ` are progress for whoever watches.
"""

import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from pymetastore.hive_metastore import ttypes
from pyspark.sql import SparkSession

from portal.connectors.lake_config import LakeConfig, load_lakes
from portal.connectors.metastore import Metastore
from stack.lake.ages import age_table
from stack.lake.feed import make_feed
from stack.lake.live import live_of, make_live
from stack.lake.payments import make_payments
from stack.lake.plan import DATABASES, tables
from stack.lake.session import open_session
from stack.lake.special import VIEWED, make_transactional, make_view, move_to_odd_places
from stack.lake.specs import DatabaseSpec, TableSpec
from stack.lake.write import write_table
from stack.stack import LAKE

_N_THREADS = 3
_PATIENCE = 300  # seconds


def say(line: str) -> None:
    """Tell whoever watches how far it is."""
    print(f"* {line}", flush=True)


def user_root(config: LakeConfig) -> Path:
    """Return the local folder below which every owner has a folder."""
    spool = Path(config.path(config.spool).path)
    return spool.parent.parent / "user"


def make_databases(metastore: Metastore, specs: Sequence[DatabaseSpec], *, root: Path) -> None:
    """Register the databases with their owners."""
    for spec in specs:
        place = root / spec.location
        place.mkdir(parents=True)
        metastore.create_database(
            ttypes.Database(
                name=spec.name,
                description=spec.comment,
                locationUri=f"file:{place}",
                parameters={},
                ownerName=spec.owner,
                ownerType=ttypes.PrincipalType.USER,
            )
        )


def make_tables(
    spark: SparkSession,
    specs: Sequence[TableSpec],
    *,
    root: Path,
    written: Callable[[TableSpec], object],
) -> None:
    """Make and fill every table; files of one are written while another is being registered.

    Tables without partitions come one by one: some of them share a place. `written` is called with
    each table in the order of `specs`, those with partitions first.
    """

    def make(spec: TableSpec) -> None:
        started = time.monotonic()
        location = f"file:{root / spec.location}" if spec.location else ""
        write_table(spark, spec, location=location)
        n_parts = f", {len(spec.parts)} partitions" if spec.parts else ""
        seconds = time.monotonic() - started
        say(f"{spec.db}.{spec.name} ({spec.format}{n_parts}) {seconds:.1f} s")

    keyed = [spec for spec in specs if spec.keys]
    with ThreadPoolExecutor(_N_THREADS) as pool:
        for spec, done in [(spec, pool.submit(make, spec)) for spec in keyed]:
            done.result()
            written(spec)
    for spec in specs:
        if not spec.keys:
            make(spec)
            written(spec)


def main() -> None:
    """Make the whole Hive part."""
    config = load_lakes(Path(sys.argv[1]))[LAKE]
    now = datetime.now(UTC)
    specs, root = tables(now.date()), user_root(config)
    owners = {spec.name: spec.owner for spec in DATABASES}
    later = [spec for spec in specs if not spec.keys]

    def age(spec: TableSpec) -> None:
        with Metastore.connect(config, timeout_seconds=_PATIENCE) as metastore:
            age_table(metastore, spec, owner=spec.owner or owners[spec.db], now=now.timestamp())

    with (
        Metastore.connect(config, timeout_seconds=_PATIENCE) as metastore,
        ThreadPoolExecutor(1) as ages,
    ):
        make_databases(metastore, DATABASES, root=root)
        say(f"{len(DATABASES)} databases")
        spark = open_session(config, formats=False)
        aged = []

        def written(spec: TableSpec) -> None:
            if f"{spec.db}.{spec.name}" == VIEWED:
                make_view(spark)  # looks into the files, which gives them a time of reading
            if spec.keys:
                aged.append(ages.submit(age, spec))

        make_tables(spark, specs, root=root, written=written)
        make_transactional(metastore)
        for done in aged:
            done.result()
        # Some tables without partitions share a place, and the last one's age counts.
        for spec in later:
            age(spec)
        say(f"ages of {sum(len(spec.parts) for spec in specs)} partitions")
        make_live(metastore, live_of(LAKE), now=now)
        today = now.astimezone(config.zone).date()
        make_feed(metastore, today=today)
        make_payments(metastore, today=today)
        move_to_odd_places(metastore, root)
        say("odd places")


if __name__ == "__main__":
    main()
