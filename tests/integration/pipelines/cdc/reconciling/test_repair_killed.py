"""A capture that is killed in a repair begins it again; the lake is right all the same."""

import pytest
from pyspark.sql import functions as F

from pipelines.cdc.capture.domain.config import Limits
from tests.support.capture_process import CaptureProcess
from tests.support.captured import Shop, changes
from tests.support.reconciled import Reconciled

pytestmark = pytest.mark.spark
SLOW = Limits(seconds=0.1, heartbeat_seconds=60, read_seconds=20)
"""No batch but that of the beginning and that of the repair."""


def test_a_repair_is_repeated_after_a_kill(pipeline: Reconciled, shop: Shop) -> None:
    shop.run(
        "create table carts (id int primary key, qty int)",
        "insert into carts select seq, seq from seq_1_to_50",
    )
    pipeline.capture()
    pipeline.apply("carts")
    pipeline.damage("carts", lambda rows: rows.where("id = 7"), "delete")
    pipeline.damage(
        "carts",
        lambda rows: rows.where("id = 8").withColumn("id", F.lit(90)).withColumn("qty", F.lit(1)),
    )
    proof = pipeline.prove("carts")
    assert sorted(kind for kind, _ in proof.keys) == ["extra", "missing"]
    repair = pipeline.repair(proof, "carts")

    before = len(changes(shop.log()))
    config = shop.config(limits=SLOW, repairs=(repair,))
    for moment, n_written in (("repair:before", 0), ("repair:after", 0), ("batch:after", 2)):
        nth = 2 if moment == "batch:after" else 1
        process = CaptureProcess(config, shop.root / "log", failpoint=f"{moment}:kill:{nth}")
        assert process.ended() == (-9, ""), moment
        assert len(changes(shop.log())) == before + n_written, moment
    # The source goes on meanwhile: what is repaired again has to be older than this.
    shop.run("update carts set qty = 70 where id = 7", "insert into carts values (90, 900)")
    pipeline.capture(repair)
    (told,) = shop.reports[-1].repaired
    assert (told.id, told.n_rows, told.n_deletes, told.note) == (1, 2, 0, "")
    written = changes(shop.log())[before:]
    assert sorted((one.op, one.key["id"]) for one in written) == [
        *(("c", "90"), ("d", "90"), ("r", "7"), ("r", "7"), ("r", "90"), ("u", "7"))
    ]
    pipeline.apply("carts")
    rows = sorted(tuple(row) for row in pipeline.rows("carts").select("id", "qty").collect())
    assert rows == shop.rows("select * from carts order by id")
    again = pipeline.prove("carts")
    assert (again.state, again.n_rows, again.n_unfit) == ("equal", 51, 0)
