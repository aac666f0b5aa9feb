"""Who reads the demo's tables: dashboards, and people who look for logs and shipments.

Their catalog tells the portal of their queries, what cubes answered and indexes left out.

    python -m stack.lake.readers LAKES_JSON REPORT_URI TOKEN_FILE

looks up as many shipments as each line of the standard input says, asks for the carts of each day a
few times, and says END once the portal was told of all; it ends with its input.
"""

import sys
import time
from itertools import count, cycle
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from portal.connectors.lake_config import LakeConfig, load_lakes
from portal.connectors.metastore import Metastore
from stack.lake.carts import SERVED
from stack.lake.session import iceberg_catalog, open_small_session
from stack.lake.shipments import N_PRODUCTS, N_SHOPS, OWNER
from stack.places import jars_of
from stack.say import END
from stack.stack import LAKE

CATALOG = "readers"
_CLASS = "lakewarden.indexes.IndexedSparkCatalog"
_PATIENCE = 20.0  # seconds
QUESTIONS = (
    "SELECT maker, sum(revenue) AS revenue FROM orders_star "
    "JOIN star_products USING (product_id) JOIN star_makers USING (maker_id) GROUP BY maker",
    "SELECT city, category, sum(pieces) AS pieces FROM orders_star "
    "JOIN star_shops USING (shop_id) JOIN star_products USING (product_id) GROUP BY city, category",
    "SELECT at, message FROM web_logs WHERE request_id = substr(sha2('70007', 256), 1, 24)",
    "SELECT ordered_on, sum(revenue) AS revenue, count(*) AS orders FROM orders_star "
    "JOIN star_shops USING (shop_id) WHERE city = 'Hamburg' GROUP BY ordered_on",
    "SELECT count(*) AS n FROM web_logs WHERE message LIKE '%gateway timeout%'",
)
"""What is asked, in turn."""
SESSION = "spark_catalog"
"""The session's own catalog, in which Hudi tables are."""
OF_CARTS = "SELECT dt, count(*) AS carts, sum(n_items) AS items FROM {} GROUP BY dt"
TIMES_A_DAY = 8
"""Twenty on three days are enough for advice on a materialization."""
BY_PRODUCT = "SELECT sum(pieces) AS pieces FROM shipments WHERE product_id = {}"
BY_SHOP = "SELECT sum(pieces) AS pieces FROM shipments WHERE shop_id = {}"
"""Written with their values, as dashboards do."""


def settings(config: LakeConfig, *, report_uri: str, token_file: Path) -> dict[str, str]:
    """Return the Spark settings of readers that report."""
    own = f"spark.sql.catalog.{CATALOG}"
    return {
        "spark.app.name": "dashboards",
        "spark.sql.extensions": "lakewarden.cubes.CubeExtensions",
        "spark.sql.queryExecutionListeners": "lakewarden.reports.QueryListener",
        **iceberg_catalog(config, CATALOG, of=_CLASS, is_cached=False),
        f"{own}.lakewarden.report-uri": report_uri,
        f"{own}.lakewarden.report-token-file": str(token_file),
        f"{own}.metrics-reporter-impl": "lakewarden.reports.ScanReporter",
        f"{own}.lakewarden.scan-report-uri": report_uri.removesuffix("/index-reports"),
    }


def hudi_settings(config: LakeConfig, *, report_uri: str, token_file: Path) -> dict[str, str]:
    """Return what readers of Hudi tables set besides."""
    session = f"spark.sql.catalog.{SESSION}"
    return {
        f"{session}.lakewarden.scan-report-uri": report_uri.removesuffix("/index-reports"),
        f"{session}.lakewarden.report-token-file": str(token_file),
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
        "spark.jars": ",".join(sorted({*config.spark_jars, *map(str, jars_of("spark"))})),
    }


class Readers:
    """Ask one question after the other, and begin anew after the last."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._questions = cycle(QUESTIONS)
        self._numbers = count(1)

    def look_up(self) -> str:
        """Ask what a product was sent, and every third time a shop; no two questions are alike."""
        number = 37 * next(self._numbers)
        if number % 3 == 0:
            self._n_rows(BY_SHOP.format(number % N_SHOPS))
            return f"what shop {number % N_SHOPS} was sent"
        self._n_rows(BY_PRODUCT.format(number % N_PRODUCTS))
        return f"what product {number % N_PRODUCTS} was sent"

    def ask(self) -> str:
        """Ask the next one; returns it and its number of rows, in words."""
        question = next(self._questions)
        return f"{self._n_rows(question)} rows: {question}"

    def know_carts(self, location: str) -> None:
        """Name the served carts in the session, which has no metastore."""
        self._spark.sql(f"CREATE DATABASE IF NOT EXISTS {SESSION}.{SERVED.db}")
        name = f"{SESSION}.{SERVED.db}.{SERVED.table}"
        self._spark.sql(f"CREATE TABLE IF NOT EXISTS {name} USING hudi LOCATION '{location}'")

    def ask_of_carts(self) -> None:
        """Ask how many carts there were each day."""
        self._n_rows(OF_CARTS.format(f"{SESSION}.{SERVED.db}.{SERVED.table}"))

    def _n_rows(self, question: str) -> int:
        self._spark.sql(f"USE {CATALOG}.sales")
        return len(self._spark.sql(question).collect())

    def wait_told(self, n_queries: int, catalog: str = CATALOG) -> None:
        """Wait until the portal was told of so many queries of a catalog, or for some seconds."""
        jvm: Any = self._spark.sparkContext._jvm
        listener = jvm.lakewarden.reports.QueryListener
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            counts = listener.counts().get(catalog)
            if counts is not None and counts["sent"] + counts["dropped"] >= n_queries:
                return
            time.sleep(0.2)


def main() -> None:
    """Look up shipments each time a line says how many."""
    config, uri, token_file = load_lakes(Path(sys.argv[1]))[LAKE], sys.argv[2], Path(sys.argv[3])
    more = settings(config, report_uri=uri, token_file=token_file)
    more |= hudi_settings(config, report_uri=uri, token_file=token_file)
    spark = open_small_session(config, user=OWNER, more=more)
    asking, n_asked, n_of_carts = Readers(spark), 0, 0
    with Metastore.connect(config) as metastore:
        carts = metastore.table_or_none(SERVED)
    if carts is not None:
        asking.know_carts(carts.sd.location)
    for line in sys.stdin:
        wanted = int(line)
        for _ in range(wanted):
            asking.look_up()
        n_asked += wanted
        for _ in range(TIMES_A_DAY if carts is not None else 0):
            asking.ask_of_carts()
            n_of_carts += 1
        asking.wait_told(n_asked)
        asking.wait_told(n_of_carts, SESSION)
        print(f"{END}0", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
