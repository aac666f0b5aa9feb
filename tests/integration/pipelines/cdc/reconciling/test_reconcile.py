"""A comparison of a real source with a Hudi table finds what was damaged, and a repair mends it."""

import threading
import time

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipelines.cdc.changes.connectors import kafka_heads
from pipelines.cdc.changes.domain.kafka_place import KafkaPlace
from stack.servers.kafka import Kafka
from tests.integration.pipelines.cdc.capture.test_texts import TYPES
from tests.support.captured import Shop
from tests.support.reconciled import Reconciled

pytestmark = pytest.mark.spark

N_UNFIT = 7
"""Values of `TYPES` that no calendar has."""


def table_of_all_types(shop: Shop) -> int:
    """Make a table with a column of each type, and a row for each value; returns how many."""
    columns = ", ".join(f"c{n} {kind}" for n, kind in enumerate(TYPES))
    shop.run(
        "set sql_mode = ''",
        "set time_zone = '+05:30'",
        f"create table t (id int primary key, {columns})",
        "insert into t (id) values (0)",
    )
    number = 0
    for n, values in enumerate(TYPES.values()):
        for value in values:
            number += 1
            shop.run(f"insert into t (id, c{n}) values ({number}, {value})")
    return number + 1


def test_tables_of_all_types_are_equal_loaded_or_from_the_log(
    pipeline: Reconciled, shop: Shop
) -> None:
    n_rows = table_of_all_types(shop)
    pipeline.capture()
    # The same rows once more, by the log.
    columns = ", ".join(f"c{n}" for n in range(len(TYPES)))
    shop.run(f"insert into t (id, {columns}) select id + 1000, {columns} from t")
    pipeline.capture()
    pipeline.apply("t")
    assert pipeline.unfit_types("t") <= {"date", "timestamp"}
    proof = pipeline.prove("t")
    assert (proof.state, proof.note) == ("equal", "")
    assert (proof.n_rows, proof.n_changing) == (2 * n_rows, 0)
    # Dates that are none are in quarantine, and nothing else is.
    assert proof.n_unfit == 2 * N_UNFIT
    assert proof.n_lake == 2 * (n_rows - N_UNFIT)


def damaged(rows: DataFrame) -> DataFrame:
    """Change a value, move a value to the column beside it, and make a row of another key."""
    changed = rows.where("id = 8").withColumn("qty", F.lit(800))
    moved = rows.where("id = 10").withColumn("two", F.col("one"))
    moved = moved.withColumn("one", F.lit(None).cast("string"))
    other = rows.where("id = 9").withColumn("word", F.lit("W9")).withColumn("id", F.lit(90000))
    return changed.union(moved).union(other)


def test_damage_is_found_and_repaired(pipeline: Reconciled, shop: Shop) -> None:
    damage_is_found_and_repaired(pipeline, shop)


def test_damage_is_found_and_repaired_by_a_changelog_in_kafka(
    pipeline: Reconciled, shop: Shop, kafka: Kafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline.kafka = KafkaPlace(kafka.address, f"changes.{shop.db}")
    monkeypatch.setattr(kafka_heads, "_LOOK_BACK", 1)  # so that the end is looked for twice
    damage_is_found_and_repaired(pipeline, shop)


def damage_is_found_and_repaired(pipeline: Reconciled, shop: Shop) -> None:
    shop.run(
        "create table carts (word varchar(20), id int, qty int, one varchar(9), two varchar(9), "
        "primary key (word, id))",
        "insert into carts select concat('w', seq), seq, seq, 'x', null from seq_1_to_3000",
    )
    pipeline.capture()
    pipeline.apply("carts")
    whole = pipeline.prove("carts")
    assert (whole.state, whole.n_rows, whole.n_ranges_differing) == ("equal", 3000, 0)

    pipeline.damage("carts", lambda rows: rows.where("id = 7"), "delete")
    pipeline.damage("carts", damaged)
    proof = pipeline.prove("carts")
    assert proof.state == "different"
    assert sorted((kind, *key.values()) for kind, key in proof.keys) == [
        ("different", "w10", "10"),
        ("different", "w8", "8"),
        ("extra", "W9", "90000"),
        ("missing", "w7", "7"),
    ]

    log = pipeline.capture(pipeline.repair(proof, "carts"))
    (told,) = shop.reports[-1].repaired
    assert (told.id, told.n_rows, told.n_deletes, told.note) == (1, 3, 1, "")
    end = log.end()
    assert end is not None
    assert end[0] >= told.batch
    pipeline.apply("carts")
    again = pipeline.prove("carts")
    assert (again.state, again.n_rows, again.n_lake) == ("equal", 3000, 3000)
    assert again.n_unfit == 0


def test_a_source_that_changes_all_the_time_does_not_differ(
    pipeline: Reconciled, shop: Shop
) -> None:
    shop.run(
        "create table carts (id int primary key, qty int)",
        "insert into carts select seq, 0 from seq_1_to_2000",
    )
    pipeline.capture()
    pipeline.apply("carts")
    is_over = threading.Event()
    link = shop.server.admin()
    link.select_db(shop.db)

    def write() -> None:
        n = 0
        while not is_over.is_set():
            n += 1
            with link.cursor() as cursor:
                cursor.execute("update carts set qty = 1 - qty where id %% 50 = %s", (n % 50,))
                cursor.execute("delete from carts where id = %s", (n % 2000,))
                cursor.execute("insert into carts values (%s, 5)", (3000 + n,))
                cursor.execute("replace into carts values (%s, 7)", (n % 2000 - 5,))
            time.sleep(0.1)

    writer = threading.Thread(target=write)
    with pipeline.running("carts"):
        writer.start()
        try:
            proof = pipeline.prove("carts", most_rounds=2)
        finally:
            is_over.set()
            writer.join()
            link.close()
        assert (proof.state, proof.note) == ("equal", "")
        assert proof.n_rows > 1000
        assert proof.n_ranges_differing > 0, "nothing changed meanwhile, so nothing is shown"
    pipeline.capture()
    pipeline.apply("carts")
    last = pipeline.prove("carts")
    assert (last.state, last.n_changing) == ("equal", 0)
