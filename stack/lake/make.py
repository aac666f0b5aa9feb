"""Makes the demo's lake: python -m stack.lake.make LAKES_JSON.

Databases come through the metastore with their owners, tables and files through Spark, ages last.
Lines that begin with `* ` are progress for whoever watches.
"""

import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from pymetastore.hive_metastore import ttypes
from pyspark.sql import SparkSession

from portal.connectors.lake_config import LakeConfig, load_lakes
from portal.connectors.metastore import Metastore
from stack.lake.ages import age_table
from stack.lake.carts import carts_own
from stack.lake.carts_write import make_carts
from stack.lake.feed import make_feed
from stack.lake.live import make_live
from stack.lake.plan import DATABASES, tables
from stack.lake.session import open_session
from stack.lake.special import (
    make_lake_formats,
    make_transactional,
    make_view,
    move_to_odd_places,
)
from stack.lake.specs import TableSpec
from stack.lake.star_write import make_star
from stack.lake.stream import make_clicks
from stack.lake.web_logs_write import make_web_logs
from stack.lake.write import write_table
from stack.stack import LAKE

_N_THREADS = 3


def _say(line: str) -> None:
    print(f"* {line}", flush=True)


def user_root(config: LakeConfig) -> Path:
    """Return the local folder below which every owner has a folder."""
    spool = Path(config.path(config.spool).path)
    return spool.parent.parent / "user"


def make_databases(metastore: Metastore, root: Path) -> None:
    """Register the databases with their owners."""
    for spec in DATABASES:
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


def make_tables(spark: SparkSession, specs: Sequence[TableSpec], *, root: Path) -> None:
    """Make and fill every table; files of one are written while another is being registered.

    Tables without partitions come one by one: some of them share a place.
    """

    def make(spec: TableSpec) -> None:
        started = time.monotonic()
        location = f"file:{root / spec.location}" if spec.location else ""
        write_table(spark, spec, location=location)
        n_parts = f", {len(spec.parts)} partitions" if spec.parts else ""
        seconds = time.monotonic() - started
        _say(f"{spec.db}.{spec.name} ({spec.format}{n_parts}) {seconds:.1f} s")

    with ThreadPoolExecutor(_N_THREADS) as pool:
        for done in [pool.submit(make, spec) for spec in specs if spec.keys]:
            done.result()
    for spec in specs:
        if not spec.keys:
            make(spec)


def age_tables(config: LakeConfig, specs: Sequence[TableSpec], *, now: datetime) -> None:
    """Give every table and partition its age, a few tables at a time."""
    owners = {spec.name: spec.owner for spec in DATABASES}
    started = time.monotonic()

    def age(spec: TableSpec) -> None:
        with Metastore.connect(config, timeout_seconds=120) as metastore:
            age_table(metastore, spec, owner=spec.owner or owners[spec.db], now=now.timestamp())

    # Some tables without partitions share a place, so they come one by one.
    with ThreadPoolExecutor(_N_THREADS) as pool:
        for done in [pool.submit(age, spec) for spec in specs if spec.keys]:
            done.result()
    for spec in specs:
        if not spec.keys:
            age(spec)
    n_parts = sum(len(spec.parts) for spec in specs)
    _say(f"ages of {n_parts} partitions {time.monotonic() - started:.1f} s")


def main() -> None:
    """Make the whole lake."""
    config = load_lakes(Path(sys.argv[1]))[LAKE]
    now = datetime.now(UTC)
    specs, root = tables(now.date()), user_root(config)
    with Metastore.connect(config, timeout_seconds=120) as metastore:
        make_databases(metastore, root)
        _say(f"{len(DATABASES)} databases")
        spark = open_session(config)
        make_tables(spark, specs, root=root)
        make_view(spark)
        make_transactional(metastore)
        with ThreadPoolExecutor(1) as beside:
            aged = beside.submit(age_tables, config, specs, now=now)
            make_lake_formats(spark)
            make_clicks(spark, now=now)
            make_web_logs(spark, now=now)
            make_star(spark, now=now)
            _say("Iceberg tables, a Hudi table")
            # Last of all: the writer of one of them dies, and the session with it.
            make_carts(spark, today=now.date())
            carts_own(metastore)
            aged.result()
        _say("two Hudi tables, one of them ill")
        make_live(metastore, now=now)
        make_feed(metastore, today=now.astimezone(config.zone).date())
        move_to_odd_places(metastore, root)
        _say("odd places")


if __name__ == "__main__":
    main()
