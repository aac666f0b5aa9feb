"""Commands about holds, which keep data from being dropped."""

from datetime import datetime

import click

from lakewarden_cli.context import Context, pass_context, table_name
from lakewarden_cli.output import print_rows
from lakewarden_cli.portal import api

_COLUMNS = {
    "id": "ID",
    "item": "ITEM",
    "kind": "KIND",
    "until": "UNTIL",
    "placed_by": "PLACED BY",
    "reason": "REASON",
}


@click.group()
def holds() -> None:
    """List, place and release holds."""


@holds.command("list")
@click.option("--table", default="", help="Only holds on this table (db.table).")
@click.option("--size", default=50, show_default=True, help="How many at most.")
@pass_context
def list_holds(context: Context, table: str, size: int) -> None:
    """List the holds on what you may see, newest first."""
    db, name = table_name(table) if table else ("", "")
    answer = context.portal().get(
        api("lifecycle", "holds"), lake=context.lake, db=db, table=name, size=size
    )
    if not context.print_answer(answer):
        print_rows(list(map(_row, answer["results"])), _COLUMNS, none="No hold fits.")


@holds.command()
@click.argument("what")
@click.argument("partition", default="")
@click.option("--until", type=click.DateTime(), help="End of the hold; without it, until released.")
@click.option("--reason", required=True, help="Why the data must stay.")
@pass_context
def add(context: Context, what: str, partition: str, until: datetime | None, reason: str) -> None:
    """Place a legal hold on WHAT: a database, or db.table and a partition (admins)."""
    db, name = table_name(what) if "." in what else (what, "")
    body = {"db": db, "table": name, "partition": partition, "reason": reason}
    if until is not None:
        body["until"] = until.astimezone().isoformat()
    held = context.portal().post(api("lifecycle", "holds"), body, lake=context.lake)
    if not context.print_answer(held):
        end = f"until {held['until']}" if held["until"] else "until it is released"
        click.echo(f"{_row(held)['item']} is on hold {end}. Hold {held['id']}.")


@holds.command()
@click.argument("hold", type=click.UUID)
@click.option("--reason", required=True, help="Why it may end.")
@pass_context
def release(context: Context, hold: object, reason: str) -> None:
    """Release a hold: an admin, or who placed it."""
    address = api("lifecycle", "holds", str(hold), "release")
    ended = context.portal().post(address, {"reason": reason}, lake=context.lake)
    if not context.print_answer(ended):
        click.echo(f"The hold on {_row(ended)['item']} is released.")


def _row(hold: dict[str, str]) -> dict[str, str]:
    table = f"{hold['db']}.{hold['table']}" if hold["table"] else f"database {hold['db']}"
    return {**hold, "item": f"{table} {hold['partition']}".rstrip()}
