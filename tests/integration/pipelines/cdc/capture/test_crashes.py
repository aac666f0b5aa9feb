"""A capture that is killed at any moment leaves a changelog that folds to the source's tables."""

import random
import threading
import time
from typing import Self

import pytest

from pipelines.cdc.capture.domain.config import Limits
from pipelines.cdc.changes.domain.records import Header
from portal.lake.errors import StaleState
from tests.support.capture_process import CaptureProcess
from tests.support.captured import Shop, changes, folded, ordered, schemas

SMALL = Limits(rows=150, seconds=0.1, chunk_rows=200, heartbeat_seconds=0.3, read_seconds=20)


class Application(threading.Thread):
    """Writes at random until it is stopped: new rows, changes, key changes, whole transactions."""

    def __init__(self, shop: Shop, seed: int) -> None:
        super().__init__(daemon=True)
        self._link = shop.server.admin(shop.db)
        self._random = random.Random(seed)
        self._ending = threading.Event()

    def run(self) -> None:
        with self._link.cursor() as cursor:
            while not self._ending.is_set():
                cursor.execute("begin")
                for _ in range(self._random.choice((1, 1, 3, 20))):
                    cursor.execute(self._statement())
                cursor.execute(self._random.choice(("commit", "commit", "commit", "rollback")))
                time.sleep(0.002)

    def _statement(self) -> str:
        dice = self._random
        a, b, new = dice.choice("abcÄäXx"), dice.randrange(300), dice.randrange(1_000_000)
        return dice.choice(
            (
                f"insert ignore into words values ('{a}', {b}, 'new {new}')",
                f"update words set v = 'changed {new}' where a = '{a}' and b = {b}",
                f"update words set v = concat('many ', v) where b between {b} and {b + 5}",
                f"delete from words where a = '{a}' and b = {b}",
                f"update ignore words set b = b + 1 where a = '{a}' and b = {b}",
                f"update ignore words set a = upper(a) where b = {b}",
                f"insert into orders (v) values ('{new}'), ('{new}')",
                f"update ignore orders set id = id + 1000000 where id = {new % 3000}",
                f"delete from orders where id = {new % 3000}",
                f"replace into words values ('{a}', {b}, 'replaced {new}')",
            )
        )

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self.join(30)
        self._link.close()


def fill(shop: Shop) -> None:
    shop.run(
        "create table words (a varchar(20) collate utf8mb4_general_ci, b int, v text,"
        " primary key (a, b))",
        "create table orders (id bigint primary key auto_increment, v varchar(99) default 'x')",
        "insert into orders (v) select concat('first ', seq) from seq_1_to_3000",
        "insert into words select char(97 + seq % 26), seq % 300, 'first' from seq_1_to_3000"
        " on duplicate key update v = 'twice'",
    )


def wait_for_batches(shop: Shop, count: int) -> None:
    """Wait until the log has so many batches more than now."""
    log, patient = shop.log(), time.monotonic() + 120
    before = (log.end() or (0, None))[0]
    while (log.end() or (0, None))[0] < before + count:
        assert time.monotonic() < patient, "the capture writes nothing"
        time.sleep(0.02)


def check(shop: Shop) -> None:
    log = shop.log()
    for table in ("words", "orders"):
        assert ordered(folded(changes(log, table))) == ordered(shop.table(table))
        assert [one.number for one in schemas(log, table)] == [1]


def test_a_killed_capture_goes_on_and_nothing_is_lost(shop: Shop) -> None:
    fill(shop)
    dice = random.Random(7)
    config = shop.config(limits=SMALL)
    with Application(shop, 7):
        for _ in range(4):
            process = CaptureProcess(config, shop.root / "log")
            wait_for_batches(shop, dice.randrange(2, 9))
            time.sleep(dice.uniform(0, 0.1))
            process.kill()
        for moment in ("batch:before", "batch:after"):
            failpoint = f"{moment}:kill:{dice.randrange(2, 5)}"
            process = CaptureProcess(config, shop.root / "log", failpoint=failpoint)
            assert process.ended() == (-9, "")
    shop.capture(config)
    check(shop)
    operations = {one.op for one in changes(shop.log())}
    assert operations == {"c", "u", "d", "r"}


def test_a_first_start_killed_between_plan_and_schema_loads_every_table(shop: Shop) -> None:
    fill(shop)
    for moment in ("batch:after", "schema:before", "schema:after", "chunk:before"):
        process = CaptureProcess(
            shop.config(limits=SMALL), shop.root / "log", failpoint=f"{moment}:kill"
        )
        assert process.ended() == (-9, ""), moment
    shop.capture(shop.config(limits=SMALL))
    check(shop)


def test_a_stale_capture_is_fenced_by_its_successor(shop: Shop) -> None:
    fill(shop)
    stale = CaptureProcess(shop.config(limits=SMALL), shop.root / "log")
    log = shop.log()
    wait_for_batches(shop, 1)
    stale.pause()
    shop.capture(shop.config(limits=SMALL, server_id=shop.server_id + 500))
    fences: list[Header] = [batch.header for batch in log.read(0)]
    stale.wake()
    assert stale.ended() == (1, "cdc.fenced")
    shop.run("insert into orders (v) values ('after')")
    shop.capture(shop.config(limits=SMALL))
    check(shop)
    assert sorted(one.fence for one in fences) == [one.fence for one in fences]
    with pytest.raises(StaleState):
        log.append(1, fences[0], [])
