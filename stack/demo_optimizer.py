"""What the demo wants of its Iceberg and Hudi tables: policies, a cube, and reports of readers."""

import json
from collections.abc import Mapping
from pathlib import Path

from portal.connectors.metastore import Metastore
from portal.lake.names import TableName
from stack.demo_days import Made
from stack.lake import carts, clicks, star, web_logs
from stack.people import ADMINS
from stack.programs import Programs
from stack.stack import LAKE, Stack

Wanted = tuple[TableName, str, Mapping[str, object], str]
"""A table, its format, the values of its policy, and why."""


def set_up_optimizer(stack: Stack, programs: Programs, made: Made) -> None:
    """Make the lake's tables known, and say what is wanted of some of them."""
    with Metastore.connect(stack.config()) as metastore:
        wanted = _wanted(metastore)
        has_star = star.is_there(metastore)
    for title, one in wanted.items():
        with made.once(title, f"What is wanted of {one[0]}") as todo:
            if todo:
                poll_tables(programs, made)
                set_policy(programs, one)
    if has_star:
        _set_up_cube(programs, made)


def poll_tables(programs: Programs, made: Made) -> None:
    """Make the portal know the lake's Iceberg and Hudi tables; once is enough."""
    if not made.has("tables"):
        programs.portal("optimizer_poll", LAKE)
        made.keep("tables")


def set_policy(programs: Programs, wanted: Wanted) -> None:
    """Set the policy of a table that the portal knows."""
    table, form, values, why = wanted
    command = ["optimizer_policy", f"{table.db}.{table.table}"]
    command += [json.dumps(dict(values)), "--format", form, "--lake", LAKE]
    command += ["--user", next(iter(ADMINS)), "--reason", why]
    programs.portal(*command)


def _wanted(metastore: Metastore) -> dict[str, Wanted]:
    """Return what is wanted of the tables that are there, by the mark of each step."""
    found: dict[str, Wanted] = {}
    if star.is_there(metastore):
        why = "A dashboard sums it up by maker, category and city"
        found["cubes"] = (star.ORDERS, "iceberg", star.POLICY, why)
    if clicks.is_there(metastore):
        why = "A stream writes it: small files and deletes all day long"
        found["optimizer"] = (clicks.LIVE, "iceberg", clicks.POLICY, why)
    if web_logs.is_there(metastore):
        why = "People look for request ids and for words of messages"
        found["indexes"] = (web_logs.LOGS, "iceberg", web_logs.POLICY, why)
    if carts.is_there(metastore):
        for name, values in carts.POLICIES.items():
            why = "Its writer schedules, and leaves the rest to services"
            found[f"services of {name}"] = (name, "hudi", values, why)
    return found


def make_report_token(programs: Programs, made: Made, place: Path) -> None:
    """Make the token by which readers report; once is enough."""
    if not made.has("reports"):
        command = ["token_make", "--user", star.OWNER, "--name", "dashboards"]
        command += ["--scope", "optimizer", "--file", str(place)]
        programs.portal(*command)
        made.keep("reports")


def _set_up_cube(programs: Programs, made: Made) -> None:
    """Declare the cube of the star schema."""
    table = f"{star.ORDERS.db}.{star.ORDERS.table}"
    with made.once("cube", f"A cube of {table}") as todo:
        if todo:
            command = ["optimizer_cube", table, json.dumps(dict(star.CUBE))]
            command += ["--lake", LAKE, "--user", star.OWNER]
            command += ["--reason", "The sales dashboard asks for sums by maker and city"]
            programs.portal(*command)
