"""The command line `lakewarden`: options that all commands share, and the commands."""

from pathlib import Path

import click

from lakewarden_cli.account import login, logout, whoami
from lakewarden_cli.context import Context
from lakewarden_cli.find import approvals, search
from lakewarden_cli.holds import holds
from lakewarden_cli.plans import plans
from lakewarden_cli.queries import prune
from lakewarden_cli.runs import runs, stop
from lakewarden_cli.schedulers import ready, report, wait_fresh
from lakewarden_cli.tables import keep, tables, why


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--url", envvar="LAKEWARDEN_URL", default="", help="Address of the portal.")
@click.option(
    "--token-file",
    envvar="LAKEWARDEN_TOKEN_FILE",
    type=click.Path(path_type=Path),
    help="File with an API token, where one is taken (report, wait-fresh, ready, prune).",
)
@click.option("--lake", envvar="LAKEWARDEN_LAKE", default="", help="The lake, if there are more.")
@click.option("--json", "is_json", is_flag=True, help="Print the answer of the API as it is.")
@click.option(
    "--allow-http", envvar="LAKEWARDEN_ALLOW_HTTP", is_flag=True, help="Allow unencrypted HTTP."
)
@click.version_option(package_name="lakewarden-cli")
@click.pass_context
def main(
    context: click.Context,
    /,
    url: str,
    token_file: Path | None,
    lake: str,
    *,
    is_json: bool,
    allow_http: bool,
) -> None:
    """Ask and steer a Lakewarden portal.

    Exit codes: 0 done, 1 refused, 2 wrong usage, 3 not visible in time, 75 the portal does not
    answer (try later), 77 log in first.
    """
    context.obj = Context(url, token_file, lake, is_json, allow_http)


for command in (
    *(login, logout, whoami),
    *(search, why, tables, keep, holds, approvals, plans, runs, stop),
    *(report, wait_fresh, ready, prune),
):
    main.add_command(command)
