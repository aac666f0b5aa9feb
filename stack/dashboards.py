"""Readers of the demo's lakes through StarRocks, and faults of its front ends.

Told again at every start, because caches and faults live in the front ends' processes.
"""

from collections.abc import Sequence

import pymysql

from stack.clusters import CATALOG, RESOURCE, USER
from stack.servers.second_lake import LAKE as SECOND
from stack.servers.starrocks import StarRocks
from stack.stack import Stack
from stack.starrocks.spec import ResourceTable

# Neither is the leader, whose list of front ends everybody reads.
SLOW, RESTARTED = "127.0.0.3", "127.0.0.4"
# A refresh of a table with partitions makes three or four calls, so it takes some three seconds.
SECONDS_A_CALL = 0.8

READ = (
    *("sales.orders", "sales.customers", "sales.returns"),
    *("web.sessions", "web.bots", "risk.scores", "finance.balances"),
)
READ_SECOND = ("sales.orders", "trials.measurements")
# 2.2 asks for partitions one by one: to fill more would take long.
READ_OLD = ("board.customers",)

_ID, _AMOUNT = ("id", "bigint(20)"), ("amount", "double")
_NAME, _DAY = ("name", "varchar(65533)"), ("dt", "varchar(10)")
_ALL = (_ID, _NAME, _AMOUNT, _DAY)
# Names and columns of 2.2's own: two tables show one of Hive, and one has drifted from it.
DECLARED = (
    ResourceTable("board", "orders", RESOURCE, "sales", "orders", _ALL),
    ResourceTable("board", "orders_of_the_year", RESOURCE, "sales", "orders", _ALL),
    ResourceTable("board", "customers", RESOURCE, "sales", "customers", (_ID, _NAME, _AMOUNT)),
    ResourceTable(
        "board", "alerts", RESOURCE, "risk", "alerts", (*_ALL, ("severity", "varchar(10)"))
    ),
    ResourceTable(
        "board", "visits_of_bots", RESOURCE, "web", "bots", (_ID, _NAME, ("visits", "int"), _DAY)
    ),
)


def open_dashboards(stack: Stack) -> None:
    """Have front ends asked for what people look at, so that their caches are filled."""
    for table in DECLARED:
        stack.old_starrocks.add_table(table)
    read = [f"{CATALOG}.{table}" for table in READ]
    if stack.second is not None:
        read += [f"{SECOND}.{table}" for table in READ_SECOND]
    _ask(stack, stack.starrocks, read)
    _ask(stack, stack.old_starrocks, READ_OLD)


def trouble_front_ends(stack: Stack) -> None:
    """Make one front end slow and restart another, whose caches are empty then."""
    stack.starrocks.set_weather(SLOW, delay=SECONDS_A_CALL)
    stack.starrocks.restart_front_end(RESTARTED)


def _ask(stack: Stack, server: StarRocks, tables: Sequence[str]) -> None:
    for host, port in server.addresses:
        if host == RESTARTED:  # it would only forget what it was asked
            continue
        link = pymysql.connect(
            host=host,
            port=port,
            user=USER,
            password=stack.clusters.password(),
            ssl_disabled=True,
            read_timeout=60,
        )
        with link, link.cursor() as cursor:
            for table in tables:
                cursor.execute(" ".join(("EXPLAIN COSTS SELECT * FROM", table)))
