"""Look now at what is hot, instead of when it is due: files of tables, and their front ends.

What it finds is queued; a worker refreshes it.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from refresh.models import Cluster
from refresh.verify.services.sweeping import LIMITS, sweep

_AT_ONCE = replace(LIMITS, shortest=timedelta(0), longest=timedelta(0))


class Command(BaseCommand):
    """Runs one turn a cluster."""

    help = "Look for silent changes of hot tables, and for front ends that answer from other data."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the name of one cluster."""
        parser.add_argument("cluster", nargs="?", help="only this one; all without a name")

    def handle(self, *args: Any, **options: Any) -> None:
        """Sweep and say what came of it."""
        rows = Cluster.objects.order_by("name")
        if options["cluster"]:
            rows = rows.filter(name=options["cluster"])
        for cluster in rows:
            found = sweep(cluster, clock=timezone.now, limits=_AT_ONCE)
            self.stdout.write(
                f"{cluster}: {found.directories} directories of {found.tables} tables checked, "
                f"{found.probes} tables probed, {found.diverged} of them diverged."
            )
