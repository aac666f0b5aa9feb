"""Commands about the work of the portal: its runs, and the emergency stop."""

import click

from lakewarden_cli.context import Context, pass_context
from lakewarden_cli.output import print_facts, print_rows, shown
from lakewarden_cli.portal import api

_COLUMNS = {
    "id": "ID",
    "kind": "KIND",
    "state": "STATE",
    "queued_at": "QUEUED",
    "finished_at": "ENDED",
    "requested_by": "REQUESTED BY",
    "message": "LATEST MESSAGE",
}


@click.group()
def runs() -> None:
    """List runs, or show one with its log."""


@runs.command("list")
@click.option("--state", default="", help="RUNNING, FAILED, ...")
@click.option("--kind", default="", help="Such as lifecycle.scan.")
@click.option("--size", default=20, show_default=True, help="How many at most.")
@pass_context
def list_runs(context: Context, state: str, kind: str, size: int) -> None:
    """List the runs that you may see, newest first."""
    answer = context.portal().get(
        api("runs"), lake=context.lake, state=state.upper(), kind=kind, size=size
    )
    if not context.print_answer(answer):
        print_rows(answer["results"], _COLUMNS, none="No run fits.")


@runs.command()
@click.argument("run", type=click.UUID)
@pass_context
def show(context: Context, run: object) -> None:
    """Show a run and the last lines of its log."""
    found = context.portal().get(api("runs", str(run)))
    if context.print_answer(found):
        return
    error = found["error"] or {}
    print_facts(
        [
            ("Run", found["id"]),
            ("Kind", found["kind"]),
            ("State", found["state"]),
            ("Progress", f"{found['done']:,} of {found['total']:,}" if found["total"] else ""),
            ("Waits for", found["waits"]),
            ("Message", found["message"]),
            ("Error", error.get("message", "")),
            ("Next step", error.get("next_step", "")),
            ("Requested by", found["requested_by"]),
        ]
    )
    for line in found["lines"]:
        click.echo(f"{shown('_at', line['at'])} {line['level']} {line['text']}")


@click.command()
@click.option("--reason", default="", help="Why everything must stop; it may follow.")
@pass_context
def stop(context: Context, reason: str) -> None:
    """Press the emergency stop: every drop, purge and removal of the lake ends."""
    body = {"do": "press", "reason": reason}
    state = context.portal().post(api("red-button"), body, lake=context.lake)
    if not context.print_answer(state):
        click.echo(f"Stopped on {state['lake']}. Two admins end it on the emergency stop page.")
