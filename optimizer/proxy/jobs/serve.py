"""The program: `python -m optimizer.proxy.jobs.serve --coordinator ... --lakes ... --tables ...`.

It holds a small Spark of its own (`local[2]`) that plans tables and reads none of their data.
"""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import waitress
from pyspark.sql import SparkSession

from optimizer.proxy.domain.statements import Rewriter
from optimizer.proxy.jobs.cubes import CubeAnswers
from optimizer.proxy.jobs.forwarding import Proxy
from optimizer.proxy.jobs.materializations import MaterializationAnswers
from optimizer.proxy.jobs.pruner import Pruner
from optimizer.proxy.jobs.reports import CubeReports
from optimizer.proxy.jobs.rewriting import Rewriters
from optimizer.rewriting.domain.hudi_readers import HudiReader
from portal.connectors.lake_config import LakeConfig, load_lakes
from portal.spark.java_names import remember_java_names

MOST_BODY = 16 * 1024 * 1024
N_THREADS = 32
READ_BY_476 = 6
FROM_ENVIRONMENT = "LAKEWARDEN_REPORT_TOKEN"


def session(config: LakeConfig) -> SparkSession:
    """Return a session with the lake's jars that plans in this process."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    remember_java_names()
    builder: Any = SparkSession.builder
    builder = builder.master("local[2]").appName("lakewarden-trino-proxy")
    jars = list(config.spark_jars)
    settings = {
        **config.spark_conf,
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.jars": ",".join(jars),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    own = [*jars, settings.get("spark.driver.extraClassPath", "")]
    builder = builder.config("spark.driver.extraClassPath", ":".join(one for one in own if one))
    made: SparkSession = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    reader = argparse.ArgumentParser(prog="optimizer.proxy.jobs.serve", description=__doc__)
    reader.add_argument("--coordinator", required=True, help="Trino's address, as clients reach it")
    reader.add_argument("--lakes", required=True, type=Path, help="the portal's lakes.json")
    reader.add_argument("--lake", default="main", help="which lake of it")
    reader.add_argument("--catalog", default="lake", help="Trino's name of the lake")
    reader.add_argument(
        "--tables", required=True, action="append", help="such as logs.*; may be given again"
    )
    reader.add_argument(
        "--cubes",
        action="append",
        default=[],
        help="tables whose aggregates cubes may answer, such as ssb.*; may be given again",
    )
    reader.add_argument(
        "--materializations",
        action="append",
        default=[],
        help="tables that may answer aggregates, such as marts.days; may be given again",
    )
    reader.add_argument("--hudi-catalog", default="hudi", help="Trino's name of its Hudi tables")
    reader.add_argument(
        "--hudi-table-version",
        type=int,
        default=READ_BY_476,
        help="the newest table version that this catalog reads; Trino 476: 6",
    )
    reader.add_argument(
        "--hudi-log-files",
        action="store_true",
        help="this catalog merges the log files of merge-on-read tables; Trino 476 does not",
    )
    reader.add_argument(
        "--max-lag-seconds", type=int, default=0, help="so old may materializations be; 0: current"
    )
    reader.add_argument("--listen", default="127.0.0.1:8090", help="address and port")
    reader.add_argument("--seconds", type=float, default=2.0, help="for rewriting, at most")
    reader.add_argument("--max-files", type=int, default=500, help="more left: read as before")
    reader.add_argument(
        "--report-uri", default="", help="where the portal takes reports of what cubes answered"
    )
    reader.add_argument(
        "--report-token-file",
        type=Path,
        help=f"a file with a token of the scope optimizer; else {FROM_ENVIRONMENT}",
    )
    return reader.parse_args(arguments)


def rewriters(config: LakeConfig, given: argparse.Namespace) -> list[Rewriter]:
    """Return what rewrites statements: aggregates first, where they are asked for."""
    spark = session(config)
    catalog, most = given.catalog, given.max_files
    found: list[Rewriter] = []
    if given.cubes:
        found.append(CubeAnswers(spark, config, catalog=catalog, tables=given.cubes, most=most))
    if given.materializations:
        found.append(
            MaterializationAnswers(
                spark,
                config,
                reader=HudiReader(
                    given.hudi_catalog, given.hudi_table_version, given.hudi_log_files
                ),
                tables=given.materializations,
                max_lag=timedelta(seconds=max(given.max_lag_seconds, 0)),
            )
        )
    found.append(Pruner(spark, config, catalog=catalog, tables=given.tables, most=most))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until it is ended."""
    given = options(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    lakes = load_lakes(given.lakes)
    if given.lake not in lakes:
        sys.stderr.write(f"{given.lakes} has no lake {given.lake}; it has {', '.join(lakes)}.\n")
        return 2
    config = lakes[given.lake]
    reports = None
    if given.report_uri:
        token = os.environ.get(FROM_ENVIRONMENT, "")
        reports = CubeReports(given.report_uri, token_file=given.report_token_file, token=token)
    asked = Rewriters(rewriters(config, given), seconds=given.seconds)
    proxy = Proxy(given.coordinator, asked, reports)
    server = waitress.create_server(
        proxy,
        listen=given.listen,
        threads=N_THREADS,
        max_request_body_size=MOST_BODY,
        ident=None,
        expose_tracebacks=False,
    )
    logging.getLogger(__name__).info("listening on %s before %s", given.listen, given.coordinator)
    server.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
