"""The command that narrows a query to data files."""

from dataclasses import asdict
from typing import TextIO

import click

from lakewarden_cli.context import Context, pass_context
from lakewarden_cli.output import human_bytes
from lakewarden_cli.pruning import prune_by


@click.command()
@click.argument("file", type=click.File(encoding="utf-8"), default="-")
@click.option("--dialect", default="trino", show_default=True, help="trino or spark.")
@click.option("--catalog", default="", help="The engine's name of the lake.")
@click.option("--schema", default="", help="The session's schema, for names without a database.")
@click.option("--max-files", type=int, default=None, help="More files left: read as before.")
@click.option("--timeout", default=120, show_default=True, help="Seconds to wait at most.")
@pass_context
def prune(context: Context, /, file: TextIO, timeout: int, **how: str | int | None) -> None:
    """Print the query in FILE (or of standard input) narrowed to data files.

    What became of each table goes to standard error, so that the query can be piped on.
    """
    dialect = str(how.pop("dialect"))
    found = prune_by(context.portal(), file.read(), dialect, timeout, lake=context.lake, **how)
    if context.print_answer(asdict(found)):
        return
    click.echo(found.sql)
    for one in found.tables:
        kept = f"{one['n_kept']:,} of {one['n_files']:,} files, {human_bytes(one['kept_bytes'])}"
        less = f"{kept} of {human_bytes(one['n_bytes'])}"
        said = f"read as before: {one['whole']}" if one["whole"] else less
        click.echo(f"-- {one['table']} {one['alias']}: {said}", err=True)
