"""Commands that find things: search, and what waits for approval."""

import click

from lakewarden_cli.context import Context, pass_context
from lakewarden_cli.output import print_rows, shown
from lakewarden_cli.portal import api

_WAITING = {
    "kind_title": "KIND",
    "title": "WHAT",
    "approvals": "APPROVALS",
    "waits": "WAITS FOR",
    "expires_at": "EXPIRES",
    "url": "PAGE",
}
_NAMES_SHOWN = 3


@click.command()
@click.argument("words", nargs=-1, required=True)
@pass_context
def search(context: Context, words: tuple[str, ...]) -> None:
    """Find tables, databases, plans, runs, people and pages by a part of a name, or an id."""
    portal = context.portal()
    found = portal.get(api("search"), q=" ".join(words), lake=context.lake)
    if context.print_answer(found):
        return
    hits = [{"group": group["title"], **hit} for group in found["groups"] for hit in group["hits"]]
    columns = {"group": "IN", "title": "FOUND", "detail": "", "url": "PAGE"}
    print_rows(hits, columns, none="Nothing that you may see has this in its name.")
    for group in found["groups"]:
        if group["has_failed"]:
            click.echo(f"{group['title']} could not be searched; try again in a minute.", err=True)


@click.command()
@click.option(
    "--tab",
    type=click.Choice(["needs-me", "mine", "all"]),
    default="needs-me",
    show_default=True,
    help="Whose.",
)
@click.option("--size", default=50, show_default=True, help="How many at most.")
@pass_context
def approvals(context: Context, tab: str, size: int) -> None:
    """List what waits for approval, what expires first on top."""
    portal = context.portal()
    answer = portal.get(api("approvals"), tab=tab, lake=context.lake, size=size)
    if context.print_answer(answer):
        return
    rows = [
        {
            **row,
            "approvals": f"{row['n_given']} of {row['n_needed']}",
            "waits": _names(row["waits_for"]),
        }
        for row in answer["results"]
    ]
    print_rows(rows, _WAITING, none="Nothing waits.")
    for kind in answer["broken"]:
        click.echo(f"{kind} could not be read; try again in a minute.", err=True)


def _names(names: list[str]) -> str:
    more = len(names) - _NAMES_SHOWN
    return shown("", names[:_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
