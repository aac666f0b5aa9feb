"""Tests the address by which Spark reads the metastore's database."""

from dataclasses import replace

import pytest

from portal.connectors.lake_config import MetastoreDb
from portal.connectors.metastore_db import jdbc_options

DATABASE = MetastoreDb(
    kind="mysql",
    jdbc_url="",
    driver="org.mariadb.jdbc.Driver",
    user="lakewarden",
    password_file="",
    host="db",
    port=3306,
    database="metastore",
)
WAITS = "connectTimeout=15000&socketTimeout=180000"
MYSQL = "permitMysqlScheme&useMysqlMetadata=true"


@pytest.mark.parametrize(
    ("written", "used"),
    [
        # Spark would quote names of MariaDB's own scheme as texts, and read the names as values.
        ("jdbc:mariadb://db:3306/metastore", f"jdbc:mysql://db:3306/metastore?{MYSQL}&{WAITS}"),
        (
            "jdbc:mariadb://db/metastore?sslMode=trust",
            f"jdbc:mysql://db/metastore?sslMode=trust&{MYSQL}&{WAITS}",
        ),
        ("jdbc:mysql://db/metastore", f"jdbc:mysql://db/metastore?{WAITS}"),
        (f"jdbc:mysql://db/metastore?{MYSQL}", f"jdbc:mysql://db/metastore?{MYSQL}&{WAITS}"),
    ],
)
def test_spark_reads_mariadb_at_an_address_of_mysql(written: str, used: str) -> None:
    options = jdbc_options(replace(DATABASE, jdbc_url=written), password="word")
    assert options["url"] == used
