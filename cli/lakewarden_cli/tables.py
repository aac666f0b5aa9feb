"""Commands about tables: why something is due, and what is in the lake."""

import click

from lakewarden_cli.context import Context, pass_context, table_name
from lakewarden_cli.errors import CliError
from lakewarden_cli.output import human_bytes, print_facts, print_rows, shown
from lakewarden_cli.portal import api

_COLUMNS = {
    "name": "TABLE",
    "owner": "OWNER",
    "mode": "MODE",
    "ttl": "TTL",
    "n_clean_now": "DUE",
    "n_soon": "SOON",
    "n_bytes": "SIZE",
    "next_due_on": "NEXT DUE",
}


@click.command()
@click.argument("table")
@click.argument("partition", default="")
@pass_context
def why(context: Context, table: str, partition: str) -> None:
    """Explain when a table or partition expires, and what blocks it.

    TABLE is db.table; PARTITION is its full name, such as dt=2026-11-21/hour=03.
    """
    db, name = table_name(table)
    address = api("lifecycle", "tables", db, name, "why")
    answer = context.portal().get(address, partition=partition, lake=context.lake)
    if context.print_answer(answer):
        return
    item = answer["item"]
    n_bytes, ttl = item["n_bytes"], item["ttl"]
    print_facts(
        [
            ("Item", f"{table} {partition}".rstrip()),
            ("State", f"{item['cls']} ({item['reason']})" if item["reason"] else item["cls"]),
            ("Due on", shown("", item["due_on"])),
            ("Can be dropped from", shown("", answer["earliest_on"])),
            ("Blocked by", "; ".join(answer["stops"]) or "nothing"),
            ("TTL", "" if ttl is None else f"{ttl} days, from {item['policy_source']}"),
            ("Effective update", f"{shown('_at', item['updated_at'])} ({item['winner']})"),
            ("Metastore says", shown("_at", item["ddl_at"])),
            ("Files changed", shown("_at", item["modified_at"])),
            ("Last read", shown("_at", item["read_at"]) or "unknown"),
            ("Size", "not measured" if n_bytes is None else human_bytes(n_bytes)),
            ("Location", item["location"] or ""),
        ]
    )


@click.command()
@click.option("--db", default="", help="Only tables of databases whose name starts so.")
@click.option("--owner", default="", help="Only tables of this owner.")
@click.option("--size", default=50, show_default=True, help="How many at most.")
@pass_context
def tables(context: Context, db: str, owner: str, size: int) -> None:
    """List the tables that you may see, with what is due of them."""
    answer = context.portal().get(
        api("lifecycle", "tables"), lake=context.lake, db=db, owner=owner, size=size
    )
    if context.print_answer(answer):
        return
    rows = [{**row, "name": f"{row['db']}.{row['table']}"} for row in answer["results"]]
    print_rows(rows, _COLUMNS, none="No table fits.")
    if answer["next"]:
        click.echo(f"More exist; raise --size or narrow by --db. ({size} shown)")


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="TABLE...")
@click.option("--days", default=30, show_default=True, help="For how many days.")
@click.option("--reason", required=True, help="Why they are still needed.")
@pass_context
def keep(context: Context, names: tuple[str, ...], days: int, reason: str) -> None:
    """Keep tables from expiring; each is answered by itself. Exit code 1 where one was refused."""
    body = {
        "tables": [".".join(table_name(name)) for name in names],
        "answer": "KEEP",
        "days": days,
        "reason": reason,
    }
    answer = context.portal().post(api("lifecycle", "answers"), body, lake=context.lake)
    if not context.print_answer(answer):
        click.echo(answer["message"])
    if answer["n_refused"]:
        raise CliError("Not every table is kept.")
