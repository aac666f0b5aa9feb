"""Commands about drop plans: what is lost, and a person's decision."""

import sys
from typing import Any

import click

from lakewarden_cli.context import Context, pass_context
from lakewarden_cli.errors import FreshLoginError
from lakewarden_cli.output import human_bytes, print_facts, print_rows, shown
from lakewarden_cli.portal import Portal, api

_COLUMNS = {
    "id": "ID",
    "state": "STATE",
    "n_tables": "TABLES",
    "n_items": "ITEMS",
    "n_bytes": "SIZE",
    "requested_by": "REQUESTED BY",
    "reason": "REASON",
}


@click.group()
def plans() -> None:
    """List drop plans, read one, approve or reject it."""


@plans.command("list")
@click.option("--state", default="", help="PENDING, APPROVED, RUNNING, DONE, ...")
@click.option("--size", default=50, show_default=True, help="How many at most.")
@pass_context
def list_plans(context: Context, state: str, size: int) -> None:
    """List the plans that you may see, newest first."""
    answer = context.portal().get(
        api("lifecycle", "plans"), lake=context.lake, state=state.upper(), size=size
    )
    if not context.print_answer(answer):
        print_rows(answer["results"], _COLUMNS, none="No plan fits.")


@plans.command()
@click.argument("plan", type=click.UUID)
@pass_context
def show(context: Context, plan: object) -> None:
    """Show what a plan drops, who decided, and what you may do."""
    found = context.portal().get(api("lifecycle", "plans", str(plan)))
    if not context.print_answer(found):
        _print_plan(found)


@plans.command()
@click.argument("plan", type=click.UUID)
@click.option("--digest", default="", help="Approve only if the plan still has this digest.")
@click.option("--typed", default="", help="What a big plan asks you to repeat.")
@click.option("--yes", is_flag=True, help="Do not ask; needs --digest.")
@pass_context
def approve(context: Context, plan: object, digest: str, typed: str, *, yes: bool) -> None:
    """Approve exactly what a plan holds now.

    The plan is shown and a question asked. `--yes` asks nothing, and then the digest that was
    read must be given: nothing is approved unseen.
    """
    portal = context.portal()
    found = portal.get(api("lifecycle", "plans", str(plan)))
    if yes and not digest:
        raise click.UsageError("--yes needs --digest: approve what you have read.")
    if not yes:
        _print_plan(found)
        click.confirm(f"Approve dropping {_loss(found['loss'])}?", abort=True, err=True)
        if found["typed"] and not typed:
            typed = click.prompt(f"Type {found['typed']} to approve", err=True)
    body = {"digest": digest or found["digest"], "typed": typed}
    done = _decide(portal, str(plan), "approve", body)
    if not context.print_answer(done):
        click.echo(f"Approved: {_progress(done)}.")


@plans.command()
@click.argument("plan", type=click.UUID)
@click.option("--reason", required=True, help="Why it is rejected; the requester reads it.")
@pass_context
def reject(context: Context, plan: object, reason: str) -> None:
    """Reject a plan with a reason."""
    portal = context.portal()
    found = portal.get(api("lifecycle", "plans", str(plan)))
    body = {"digest": found["digest"], "reason": reason}
    done = _decide(portal, str(plan), "reject", body)
    if not context.print_answer(done):
        click.echo(f"Rejected: the plan is {done['state']}.")


def _decide(portal: Portal, plan: str, step: str, body: dict[str, str]) -> Any:
    """Take a decision; where a fresh log-in is needed, ask for the password and try once more."""
    address = api("lifecycle", "plans", plan, step)
    try:
        return portal.post(address, body)
    except FreshLoginError:
        name = portal.session.username
        if not name or not sys.stdin.isatty():
            raise
    portal.login(name, click.prompt(f"Password of {name}", hide_input=True, err=True))
    return portal.post(address, body)


def _print_plan(plan: dict[str, Any]) -> None:
    loss = plan["loss"]
    oldest, newest = shown("_at", loss["oldest_at"]), shown("_at", loss["newest_at"])
    print_facts(
        [
            ("Plan", plan["id"]),
            ("State", _progress(plan)),
            ("Will be removed", _loss(loss)),
            ("Updated between", f"{oldest} and {newest}" if oldest else ""),
            ("Recently read", f"{loss['n_still_read']:,}" if loss["n_still_read"] else ""),
            ("Part of it", "You see only your part of this plan." if loss["is_part"] else ""),
            ("Requested by", ", ".join(plan["requesters"]) or plan["requested_by"]),
            ("Reason", plan["reason"]),
            ("No restore brings back", "; ".join(plan["not_restored"])),
            ("Lapses", shown("_at", plan["lapses_at"])),
            ("You may", ", ".join(plan["transitions"]) or "decide nothing here"),
            ("Digest", plan["digest"]),
        ]
    )


def _loss(loss: dict[str, Any]) -> str:
    items = f"{loss['n_items']:,} item{'' if loss['n_items'] == 1 else 's'}"
    tables = f"{loss['n_tables']:,} table{'' if loss['n_tables'] == 1 else 's'}"
    return f"{items} of {tables}, {human_bytes(loss['n_bytes'] or 0)}"


def _progress(plan: dict[str, Any]) -> str:
    n_given = sum(decision["decision"] == "APPROVE" for decision in plan["decisions"])
    return f"{plan['state']}, {n_given} of {plan['n_needed']} approvals"
