"""Say in one table which systems of the lakes the portal reaches, as whom, and what to do."""

from argparse import ArgumentParser
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.access.lakes import all_lakes, get_lake
from portal.connectors.reach.lake_check import Reach, check_lake
from portal.lake.errors import PortalError
from portal.runs.kinds.registry import all_kinds

_TITLES = ("system", "reached", "as whom", "seconds", "place", "detail")
_WIDTH = 96


class Command(BaseCommand):
    """Writes one small file to the spool and each backup root, and removes it again."""

    help = "Check what the portal reaches of a lake, as whom; exit 1 where something is missing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take one lake; without it all are checked."""
        parser.add_argument("lake", nargs="?", help="the lake's name in lakes.json")

    def handle(self, *args: Any, **options: Any) -> None:
        """Ask all systems and print the table."""
        try:
            lakes = [get_lake(options["lake"])] if options["lake"] else list(all_lakes().values())
        except PortalError as error:
            raise CommandError(error.message) from error
        acting = [kind.name for kind in all_kinds() if kind.acting and kind.job]
        n_failed = n_warned = 0
        for config in lakes:
            found = check_lake(config, acting=acting)
            n_failed += sum(not row.is_reached for row in found)
            self.stdout.write(f"Lake {config.lake}")
            for line in table(found):
                self.stdout.write(line)
            n_warned += sum(row.is_reached and bool(row.advice) for row in found)
        if n_warned:
            self.stdout.write(f"Warnings: {n_warned:,}. What to do stands below each.")
        if n_failed:
            raise CommandError(f"Not reached: {n_failed:,}. What to do stands below each.")


def table(found: Sequence[Reach]) -> list[str]:
    """Return the lines of a table; what to do stands below a failure or a warning."""
    rows = [
        (
            row.system,
            _word(row),
            row.as_whom or "-",
            f"{row.seconds:.1f}",
            row.place,
            row.detail,
        )
        for row in found
    ]
    widths = [max(map(len, column)) for column in zip(_TITLES, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        return "  ".join(padded).rstrip()

    lines = [line(_TITLES), line(["-" * width for width in widths])]
    for reach, row in zip(found, rows, strict=True):
        lines.append(line(row))
        # Paths and names of settings are copied from here.
        parts = wrap(reach.advice, _WIDTH, break_long_words=False, break_on_hyphens=False)
        lines += [f"    {part}" for part in parts]
    return lines


def _word(row: Reach) -> str:
    if not row.is_reached:
        return "NO"
    return "warning" if row.advice else "yes"
