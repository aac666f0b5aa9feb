"""Who reads the demo's tables of cubes and file indexes: a dashboard, and people who search logs.

Their catalog tells the portal what cubes answered and what indexes left out (docs/cubes.md).
"""

from itertools import count, cycle
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from portal.connectors.lake_config import LakeConfig
from stack.lake.session import iceberg_catalog
from stack.lake.shipments import N_PRODUCTS, N_SHOPS

CATALOG = "readers"
_CLASS = "lakewarden.indexes.IndexedSparkCatalog"
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


def settings(config: LakeConfig, *, report_uri: str, token_file: Path) -> dict[str, str]:
    """Return the Spark settings of readers that report."""
    own = f"spark.sql.catalog.{CATALOG}"
    return {
        "spark.sql.extensions": "lakewarden.cubes.CubeExtensions",
        "spark.sql.queryExecutionListeners": "lakewarden.reports.QueryListener",
        **iceberg_catalog(config, CATALOG, of=_CLASS, is_cached=False),
        f"{own}.lakewarden.report-uri": report_uri,
        f"{own}.lakewarden.report-token-file": str(token_file),
        f"{own}.metrics-reporter-impl": "lakewarden.reports.ScanReporter",
        f"{own}.lakewarden.scan-report-uri": report_uri.removesuffix("/index-reports"),
    }


class Readers:
    """Ask one question after the other, and begin anew after the last."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._questions = cycle(QUESTIONS)
        self._numbers = count(1)

    def look_up(self) -> str:
        """Ask what a product was sent, and every third time a shop; no two questions are alike."""
        number = next(self._numbers)
        column, most = ("shop_id", N_SHOPS) if number % 3 == 0 else ("product_id", N_PRODUCTS)
        value = number * 37 % most
        shipments = self._spark.table(f"{CATALOG}.sales.shipments")
        shipments.where(F.col(column) == value).agg(F.sum("pieces")).collect()
        return f"what {column} {value} was sent"

    def ask(self) -> str:
        """Ask the next one; returns it and its number of rows, in words."""
        self._spark.sql(f"USE {CATALOG}.sales")
        question = next(self._questions)
        return f"{len(self._spark.sql(question).collect())} rows: {question}"
