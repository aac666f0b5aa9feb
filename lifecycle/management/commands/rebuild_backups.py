"""`manage.py rebuild_backups`: restore the backup catalogue from the files beside the data."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from lifecycle.backup.services.ingesting import backups_rebuild
from portal.access.lakes import all_lakes


class Command(BaseCommand):
    """Reads every backup root of every lake; rows that are there are brought up to date."""

    help = "Rebuild the backup catalogue from the files beside the data."

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Rebuild lake by lake and say what was found."""
        for lake in sorted(all_lakes()):
            counts = backups_rebuild(lake, now=timezone.now())
            said = ", ".join(f"{name} {n}" for name, n in counts.items())
            self.stdout.write(f"{lake}: {said}")
