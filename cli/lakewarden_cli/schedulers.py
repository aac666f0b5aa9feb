"""Commands for schedulers: report a write, wait until it is visible, set the ready flag."""

import time
from typing import Any

import click

from lakewarden_cli.context import Context, pass_context, table_name
from lakewarden_cli.errors import NotYetError
from lakewarden_cli.portal import Portal

_REPORT, _WAIT, _READY = "/api/refresh/", "/api/refresh/wait", "/api/readiness/"

_partitions = click.option(
    "--partition", "partitions", multiple=True, help="Its name, or a part of it: dt=2026-11-21."
)


@click.command()
@click.argument("table")
@_partitions
@pass_context
def report(context: Context, table: str, partitions: tuple[str, ...]) -> None:
    """Report that TABLE was written, so that the caches of StarRocks are refreshed.

    Prints the moment to wait for. Reporting twice is harmless.
    """
    told = context.portal().post(_REPORT, _of(context, table, partitions))
    if not context.print_answer(told):
        click.echo(told["message"])
        click.echo(f"Wait for it: lakewarden wait-fresh {table} --written-at {told['written_at']}")


@click.command("wait-fresh")
@click.argument("table")
@_partitions
@click.option("--written-at", default="", help="As `report` printed it; without it, reports now.")
@click.option("--timeout", default=600, show_default=True, help="Seconds to wait at most.")
@click.option(
    "--lenient", is_flag=True, help="Succeed after the time-out as well, naming who lags."
)
@pass_context
def wait_fresh(
    context: Context,
    table: str,
    partitions: tuple[str, ...],
    written_at: str,
    timeout: int,
    *,
    lenient: bool,
) -> None:
    """Wait until every live StarRocks front end shows what was written to TABLE.

    Without `--written-at` the write is reported first. Exit code 3: not visible in time.
    """
    portal = context.portal()
    body = _of(context, table, partitions)
    told = {"written_at": written_at} if written_at else portal.post(_REPORT, body)
    if not told.get("shown_as", True):
        click.echo(told["message"])
        return
    body |= {"written_at": told["written_at"], "strict": not lenient}
    seen = _wait(portal, body, until=time.monotonic() + timeout)
    if not context.print_answer(seen):
        click.echo(_sentence(seen))
    if not seen["may_go_on"]:
        raise NotYetError(f"{table} is not visible everywhere.")


@click.command()
@click.argument("table")
@click.option("--partition", "partitions", multiple=True, required=True, help="As for report.")
@click.option("--not", "is_not", is_flag=True, help="Hide them instead, before they are rewritten.")
@pass_context
def ready(context: Context, table: str, partitions: tuple[str, ...], *, is_not: bool) -> None:
    """Set the ready flag of partitions of TABLE, which offline readers respect."""
    told = context.portal().post(_READY, _of(context, table, partitions) | {"ready": not is_not})
    if not context.print_answer(told):
        click.echo(told["message"])


def _of(context: Context, table: str, partitions: tuple[str, ...]) -> dict[str, Any]:
    """Return which table of which lake a request is about."""
    table_name(table)
    body: dict[str, Any] = {"table": table, "partitions": list(partitions)}
    return {**body, "lake": context.lake} if context.lake else body


def _wait(portal: Portal, body: dict[str, Any], *, until: float) -> Any:
    """Ask until it is visible, over, or too late; the last answer is returned."""
    while True:
        left = max(0.0, until - time.monotonic())
        seen = portal.post(_WAIT, {**body, "timeout": left})
        if seen["is_over"] or not left:
            return seen
        time.sleep(min(left, max(seen["ask_again_seconds"], 0.2)))


def _sentence(seen: dict[str, Any]) -> str:
    if seen["is_visible"]:
        return f"Visible. {seen['reason']}" if seen["reason"] else "Visible on every front end."
    lagging = [
        f"{cluster['cluster']}: {cluster['problem'] or 'not yet'}"
        for cluster in seen["clusters"]
        if not cluster["is_visible"]
    ]
    return "\n".join(["Not visible yet.", seen["reason"], *lagging]).strip()
