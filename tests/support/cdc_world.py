"""A source that is changed at random while everything around it is killed, and its lake."""

import os
import random
import signal
import threading
import time
from contextlib import suppress
from typing import Any, Self

import pymysql
from pyspark.sql import SparkSession

from stack.servers.source_db import SourceDb

_STATES = ("new", "paid", "gone")
_KEYS = 40
"""So few keys that each is written, deleted and written again many times."""

FIRST = (
    "create table items (id int primary key, name varchar(30) default 'x', qty int,"
    " price decimal(10,2))",
    "create table pairs (a varchar(8) collate utf8mb4_general_ci, b int, v text,"
    " primary key (a, b))",
    "create table doomed (id int primary key auto_increment, v varchar(20) default 'y')",
    "create table odd (id int primary key, day date)",
    "insert into odd select seq, '2026-01-01' from seq_1_to_20",
    "insert into items select seq, concat('item ', seq), seq, seq / 3 from seq_1_to_300",
    "insert into pairs select char(97 + seq % 9), seq, concat('v', seq) from seq_1_to_200",
    "insert into doomed (v) select concat('d', seq) from seq_1_to_50",
)


def odd_rows(number: int) -> tuple[str, ...]:
    """Return statements that write one good row of a round, and one whose date no calendar has."""
    return (
        "set sql_mode = ''",
        f"insert into odd (id, day, extra) values ({1000 + number}, '2026-01-02', {number})",
        f"insert into odd (id, day) values ({2000 + number}, '0000-00-00')",
    )


class Writer(threading.Thread):
    """Writes at random, in whole transactions, until it is stopped; it outlives its server."""

    def __init__(self, server: SourceDb, db: str, seed: int) -> None:
        super().__init__(daemon=True)
        self._server, self._db, self._random = server, db, random.Random(seed)
        self._ending = threading.Event()

    def run(self) -> None:
        while not self._ending.is_set():
            # The server may be away; what it did not commit was never there.
            with suppress(pymysql.Error, OSError), self._server.admin(self._db) as link:
                self._write(link)
            time.sleep(0.05)

    def _write(self, link: Any) -> None:
        with link.cursor() as cursor:
            while not self._ending.is_set():
                cursor.execute("begin")
                for _ in range(self._random.choice((1, 2, 9))):
                    cursor.execute(self._statement())
                cursor.execute(self._random.choice(("commit", "commit", "rollback")))
                time.sleep(0.01)

    def _statement(self) -> str:
        dice = self._random
        a, b, key = dice.choice("abcÄäX"), dice.randrange(_KEYS), dice.randrange(_KEYS)
        return dice.choice(
            (
                f"insert ignore into items (id) values ({key})",
                f"replace into items (id, name) values ({key}, '{dice.choice(_STATES)}')",
                f"update items set name = concat(left(name, 9), '{b}') where id = {key}",
                f"update items set price = price + 0.01 where id between {key} and {key + 30}",
                f"delete from items where id = {key}",
                f"update ignore items set id = {dice.randrange(_KEYS)} where id = {key}",
                f"update ignore pairs set a = '{a}', b = {b} where b = {key}",
                f"insert ignore into pairs values ('{a}', {b}, 'new')",
                f"delete from pairs where a = '{a}' and b = {b}",
                f"insert into doomed (v) values ('{key}')",
            )
        )

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self.join(60)


def rows_in_the_lake(
    spark: SparkSession, location: str, columns: list[str], key: list[str]
) -> list[tuple[Any, ...]]:
    """Return the rows of a Hudi table in the order of their keys."""
    spark.catalog.clearCache()
    frame = spark.read.format("hudi").load(location).select(*columns)
    places = [columns.index(name) for name in key]
    rows = [tuple(row) for row in frame.collect()]
    return sorted(rows, key=lambda row: tuple(row[place] for place in places))


def kill_group(pgid: int) -> None:
    """End a program and all that it started, as a crash would."""
    with suppress(ProcessLookupError):
        os.killpg(pgid, signal.SIGKILL)
