"""Take over from the directory who administers which database."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from portal.access.lakes import all_lakes
from portal.access.services import directory_sync


class Command(BaseCommand):
    """Brings the database administrators of every lake up to date."""

    help = "Sync database administrators from the directory."

    def handle(self, *args: Any, **options: Any) -> None:
        """Sync every lake."""
        for lake in all_lakes():
            n_changed = directory_sync(lake, path=Path(settings.LAKEWARDEN_DIRECTORY))
            self.stdout.write(f"{lake}: {n_changed} rows changed.")
