"""Makes the Iceberg and Hudi tables of the demo's lake: python -m stack.lake.formats LAKES_JSON.

They come after the tables of Hive, so that the first scan need not wait for them.
"""

import sys
from datetime import UTC, datetime
from pathlib import Path

from portal.connectors.lake_config import load_lakes
from portal.connectors.metastore import Metastore
from stack.lake.carts import carts_own
from stack.lake.carts_write import make_carts
from stack.lake.make import say
from stack.lake.session import open_session
from stack.lake.shipments_write import make_shipments
from stack.lake.special import make_lake_formats
from stack.lake.star_write import make_star
from stack.lake.stream import make_clicks
from stack.lake.web_logs_write import make_web_logs
from stack.stack import LAKE


def main() -> None:
    """Make them all."""
    config = load_lakes(Path(sys.argv[1]))[LAKE]
    now = datetime.now(UTC)
    spark = open_session(config)
    make_lake_formats(spark)
    make_clicks(spark, now=now)
    make_web_logs(spark, now=now)
    make_star(spark, now=now)
    make_shipments(spark, now=now)
    say("Iceberg tables, a Hudi table")
    # Last of all: the writer of one of them dies, and the session with it.
    make_carts(spark, today=now.date())
    with Metastore.connect(config, timeout_seconds=120) as metastore:
        carts_own(metastore)
    say("two Hudi tables, one of them ill")


if __name__ == "__main__":
    main()
