"""A program on a standalone cluster: tables of version 3 through both catalogs, with equal rows.

Iceberg's session extension is on, without which Spark can neither copy files of version 3 on
changes nor read views. Tables and views of a catalog that lies in a database are read as well.
"""

import os
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from stack.places import JARS, jars_of
from tests.integration.optimizer.indexes.test_indexed_changes import KINDS, SOURCE, check, made
from tests.support.indexed_tables import IndexedTables


def _session(master: str) -> SparkSession:
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    iceberg = [jar for jar in jars_of("spark") if jar.name.startswith("iceberg-spark-runtime")]
    driver = [jar for jar in jars_of("spark") if jar.name.startswith("mariadb-java-client")]
    jars = [*iceberg, *driver, JARS / "jvm" / "indexed-catalog.jar"]
    builder: Any = SparkSession.builder
    settings = {
        # The executors get Iceberg alone: indexes are the driver's business.
        "spark.executor.extraClassPath": ":".join(map(str, iceberg)),
        "spark.driver.extraClassPath": ":".join(map(str, jars)),
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.cores.max": "2",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.extensions": (
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
        ),
        "spark.log.level": "ERROR",
        "spark.ui.showConsoleProgress": "false",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    session: SparkSession = builder.master(master).getOrCreate()
    return session


def _changed(lake: IndexedTables, mode: str) -> None:
    name = f"v3.{mode.replace('-', '_')}"
    table = made(
        lake,
        name,
        format_version="3",
        write__delete__mode=mode,
        write__update__mode=mode,
        write__merge__mode=mode,
    ).index(KINDS)
    conditions = ("id IN (5, 15, 16)", "word = 'w7' OR id = 999")
    assert check(table, "id = 15") == [1], "no file was dropped on the cluster"
    for change in (
        "DELETE FROM {t} WHERE id = 5",
        "UPDATE {t} SET word = 'w7' WHERE id = 16",
        "MERGE INTO {t} t USING (SELECT * FROM {source}) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET word = s.word "
        "WHEN NOT MATCHED THEN INSERT (id, word) VALUES (s.id, s.word)",
    ):
        lake.sql(change, table=name, catalog="indexed", source=SOURCE)
        check(table, *conditions)
    table.index(KINDS)
    assert min(check(table, *conditions)) < len(table.live())


def _in_a_database(lake: IndexedTables, uri: str) -> None:
    """Read a table and a view of Iceberg's JDBC catalog, whose tables have the same indexes."""
    spark, table = lake.spark, made(lake, "reach.jdbc").index(KINDS)
    classes = {
        "jdbc_plain": "org.apache.iceberg.spark.SparkCatalog",
        "jdbc_indexed": "lakewarden.indexes.IndexedSparkCatalog",
    }
    metadata = table.java.operations().current().metadataFileLocation()
    for name, implementation in classes.items():
        settings = {
            "": implementation,
            ".type": "jdbc",
            ".uri": uri,
            ".warehouse": f"file:{lake.root}",
            ".jdbc.schema-version": "V1",
        }
        for key, value in settings.items():
            spark.conf.set(f"spark.sql.catalog.{name}{key}", value)
        # In the database each catalog has names of its own; the table is one.
        spark.sql(f"CREATE NAMESPACE {name}.reach")
        spark.sql(
            f"CALL {name}.system.register_table("
            f"table => 'reach.jdbc', metadata_file => '{metadata}')"
        )
        spark.sql(f"USE {name}")
        spark.sql("CREATE VIEW reach.few AS SELECT * FROM reach.jdbc WHERE id < 50")
    for relation in ("reach.jdbc", "reach.few"):
        for where, most in (("id = 15", 1), ("id = 77", 1), ("word LIKE '%w4%'", 4)):
            plain, indexed = (spark.table(f"{name}.{relation}").where(where) for name in classes)
            assert sorted(plain.collect()) == sorted(indexed.collect()), (relation, where)
            assert indexed.rdd.getNumPartitions() <= most, (relation, where)


def main(master: str, folder: str, uri: str) -> None:
    """Change a table by copies and one by deletion vectors; every answer must be the plain one."""
    spark = _session(master)
    root = Path(folder) / "lake"
    root.mkdir()
    lake = IndexedTables.under(spark, root)
    for mode in ("copy-on-write", "merge-on-read"):
        _changed(lake, mode)
    _in_a_database(lake, uri)
    spark.stop()
    sys.stdout.write("all equal\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
