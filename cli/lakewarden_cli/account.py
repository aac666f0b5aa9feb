"""Commands that sign a person in and out."""

import sys

import click

from lakewarden_cli.context import Context, pass_context
from lakewarden_cli.errors import SignInError


@click.command()
@click.option("--user", prompt="User name", help="Your user name.")
@click.option(
    "--password-stdin", "from_stdin", is_flag=True, help="Read the password from standard input."
)
@pass_context
def login(context: Context, user: str, *, from_stdin: bool) -> None:
    """Sign in with user name and password; again makes the log-in fresh for approvals.

    The session is kept in a file that only you can read, and ends as in the browser: after 30
    idle minutes. Where people sign in by single sign-on, use the portal's pages.
    """
    portal = context.portal()
    password = sys.stdin.readline().rstrip("\r\n") if from_stdin else _prompt()
    portal.login(user, password)
    click.echo(f"Signed in to {portal.session.url} as {user}.")


@click.command()
@pass_context
def logout(context: Context) -> None:
    """End the session, in the portal and here."""
    context.portal().logout()
    click.echo("Signed out.")


@click.command()
@pass_context
def whoami(context: Context) -> None:
    """Show which portal is spoken to, and as whom; exit code 77 where nobody is signed in."""
    session = context.portal().session
    if not session.username:
        raise SignInError(
            f"Nobody is signed in to {session.url}.",
            next_step="Run `lakewarden login`.",
        )
    if not context.print_answer({"url": session.url, "username": session.username}):
        click.echo(f"{session.username} at {session.url}")


def _prompt() -> str:
    return str(click.prompt("Password", hide_input=True))
