"""A shop whose database is captured: python -m stack.lake.shop SOCKET plays its applications.

It makes its tables, then sells for ever. Once somebody captures it, it adds a column, and later
drops one, as a team does that does not know of the lake: the first waits to be added there, and
the second waits for an admin.
"""

import random
import sys
import time
from decimal import Decimal

import pymysql

DB = "shop"
SECONDS = 20.0
_CUSTOMERS, _ORDERS = 300, 2000
_MINUTES_OF_PAST = 14 * 24 * 60
"""Over how long its first orders came."""
_PER_BEAT = 6
_STATES = ("new", "paid", "shipped", "returned")
_GOODS = ("kettle", "lamp", "mug", "pan", "towel", "vase", "clock", "rug")
_BEATS_TO_ADD, _BEATS_TO_DROP = 2, 4
"""How many beats after its capture began the shop changes its tables."""

_TABLES = (
    """CREATE TABLE IF NOT EXISTS customers (
        id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(60) NOT NULL, email VARCHAR(120),
        city VARCHAR(40), joined_at DATETIME NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS orders (
        id INT PRIMARY KEY AUTO_INCREMENT, customer_id INT NOT NULL, state VARCHAR(10) NOT NULL,
        total DECIMAL(10,2) NOT NULL, gift_note VARCHAR(80), ordered_at DATETIME NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS order_lines (
        order_id INT, line TINYINT UNSIGNED, goods VARCHAR(20) NOT NULL,
        quantity SMALLINT UNSIGNED NOT NULL, price DECIMAL(8,2) NOT NULL,
        PRIMARY KEY (order_id, line))""",
)
_ADDED = "ALTER TABLE customers ADD COLUMN loyalty_points INT NOT NULL DEFAULT 0"
_DROPPED = "ALTER TABLE orders DROP COLUMN gift_note"


class Shop:
    """The shop's applications, on one connection."""

    def __init__(self, link: "pymysql.Connection[pymysql.cursors.Cursor]", *, seed: int) -> None:
        self._link = link
        self._random = random.Random(seed)
        self._n_captured = 0

    def open(self) -> None:
        """Make the tables and their first rows; a shop that is there stays as it is."""
        self._run(f"CREATE DATABASE IF NOT EXISTS {DB} CHARACTER SET utf8mb4")
        self._link.select_db(DB)
        for statement in _TABLES:
            self._run(statement)
        if self._one("SELECT count(*) FROM orders"):
            return
        self._link.begin()
        for number in range(_CUSTOMERS):
            self._customer(number)
        for number in range(_ORDERS, 0, -1):
            state = self._random.choice(_STATES)
            self._order(state=state, minutes_ago=number * _MINUTES_OF_PAST // _ORDERS)
        self._link.commit()

    def beat(self) -> None:
        """Sell a little, and change a table where its time has come."""
        self._link.begin()
        for _ in range(_PER_BEAT):
            self._order()
        last = self._one("SELECT max(id) FROM orders")
        for _ in range(_PER_BEAT):
            state, order = self._random.choice(_STATES), self._random.randint(1, last)
            self._run("UPDATE orders SET state = %s WHERE id = %s", state, order)
        gone = self._random.randint(1, last)
        self._run("DELETE FROM order_lines WHERE order_id = %s", gone)
        self._run("DELETE FROM orders WHERE id = %s", gone)
        self._link.commit()
        self._n_captured += self._is_captured()
        if self._n_captured >= _BEATS_TO_ADD and not self._has("customers", "loyalty_points"):
            self._run(_ADDED)
        if self._n_captured >= _BEATS_TO_DROP and self._has("orders", "gift_note"):
            self._run(_DROPPED)

    def _customer(self, number: int) -> None:
        name, city = f"Customer {number}", self._random.choice(("Graz", "Wien", "Bern", "Basel"))
        self._run(
            "INSERT INTO customers (name, email, city, joined_at) VALUES (%s, %s, %s, now())",
            *(name, f"customer{number}@example.com", city),
        )

    def _order(self, *, state: str = "new", minutes_ago: int = 0) -> None:
        lines = [
            (self._random.choice(_GOODS), self._random.randint(1, 5), self._price())
            for _ in range(self._random.randint(1, 3))
        ]
        total = sum((quantity * price for _, quantity, price in lines), Decimal(0))
        order = self._run(
            "INSERT INTO orders (customer_id, state, total, ordered_at)"
            " VALUES (%s, %s, %s, now() - INTERVAL %s MINUTE)",
            *(self._random.randint(1, _CUSTOMERS), state, total, minutes_ago),
        )
        for number, line in enumerate(lines, start=1):
            self._run("INSERT INTO order_lines VALUES (%s, %s, %s, %s, %s)", order, number, *line)

    def _price(self) -> Decimal:
        return Decimal(self._random.randint(100, 9999)) / 100

    def _is_captured(self) -> bool:
        """Whether somebody reads the server's log."""
        return bool(
            self._one(
                "SELECT count(*) FROM information_schema.processlist"
                " WHERE command LIKE 'Binlog Dump%%'"
            )
        )

    def _has(self, table: str, column: str) -> bool:
        return bool(
            self._one(
                "SELECT count(*) FROM information_schema.columns"
                " WHERE table_schema = %s AND table_name = %s AND column_name = %s",
                *(DB, table, column),
            )
        )

    def _run(self, statement: str, *values: object) -> int:
        """Run a statement; returns the number that it gave a row, if it did."""
        with self._link.cursor() as cursor:
            cursor.execute(statement, values)
            return int(cursor.lastrowid or 0)

    def _one(self, statement: str, *values: object) -> int:
        with self._link.cursor() as cursor:
            cursor.execute(statement, values)
            found = cursor.fetchone()
        return int(found[0] or 0) if found else 0


def main() -> None:
    """Sell until ended."""
    link = pymysql.connect(unix_socket=sys.argv[1], user="root", charset="utf8mb4", autocommit=True)
    shop = Shop(link, seed=7)
    shop.open()
    print("open", flush=True)
    while True:
        time.sleep(SECONDS)
        shop.beat()


if __name__ == "__main__":
    main()
