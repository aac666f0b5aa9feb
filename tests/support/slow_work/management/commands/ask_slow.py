"""Ask for slow runs."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from portal.runs.requests.services import run_request


class Command(BaseCommand):
    """Writes runs and their messages."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--count", type=int, default=1)
        parser.add_argument("--seconds", type=float, default=1.0)
        parser.add_argument("--trace", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        params = {"seconds": options["seconds"], "trace": options["trace"]}
        for _ in range(options["count"]):
            run_request(
                "test.slow",
                lake="main",
                params=params,
                requested_by="test",
                now=timezone.now(),
            )
