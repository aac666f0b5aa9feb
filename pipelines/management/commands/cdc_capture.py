"""Capture the changes of every pipeline, one process each.

Any number of hosts may run it; leases pick who captures a pipeline. It needs the database, the
sources and the file system of the changelogs, not the broker.
"""

import os
import signal
import subprocess
import sys
import threading
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import DatabaseError, connection
from django.utils import timezone

from pipelines.cdc.control.services.capturing import pipeline_capture, pipelines_without_capture
from portal.log_context import bind_process
from portal.runs.claims.leases import new_holder
from portal.servers.release import ReleaseWatch

SECONDS = 2.0
AGAIN_SECONDS = 10.0
"""Between the end of a process and its successor, so that one that fails is not all there is."""


class Command(BaseCommand):
    """Runs until SIGTERM or Ctrl-C; with a name it captures that pipeline in this process."""

    help = "Capture the changes of MySQL sources into their changelogs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the name of one pipeline."""
        parser.add_argument("--pipeline", help="capture only this one, in this process")

    def handle(self, *args: Any, **options: Any) -> None:
        """Start a process for each pipeline that has none, until told to stop."""
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        if options["pipeline"]:
            # For the threads of this process, too, which know no context.
            bind_process(task="cdc_capture", pipeline=options["pipeline"])
            parent = os.getppid()
            pipeline_capture(
                options["pipeline"],
                holder=new_holder(),
                is_ended=lambda: stop.is_set() or os.getppid() != parent,
            )
            return
        self.stdout.write("Capturing.")
        children, watch = _Children(), ReleaseWatch()
        while not (stop.is_set() or watch.is_former()):
            try:
                children.start(pipelines_without_capture(now=timezone.now()))
            except DatabaseError as error:
                self.stderr.write(f"the database did not answer: {error}")
                connection.close()
            stop.wait(SECONDS)
        children.end()


class _Children:
    """The processes of this host, one a pipeline."""

    def __init__(self) -> None:
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._next: dict[str, float] = {}

    def start(self, names: list[str]) -> None:
        """Start what has no process here; who of two hosts is late ends at once."""
        now = timezone.now().timestamp()
        for name, child in list(self._running.items()):
            if child.poll() is not None:
                del self._running[name]
                self._next[name] = now + AGAIN_SECONDS
        for name in names:
            if name not in self._running and self._next.get(name, 0.0) <= now:
                self._running[name] = subprocess.Popen(
                    [sys.executable, "manage.py", "cdc_capture", f"--pipeline={name}"],
                    cwd=settings.BASE_DIR,
                )

    def end(self) -> None:
        """End all of them, and wait until each has written its last batch."""
        for child in self._running.values():
            child.terminate()
        for child in self._running.values():
            child.wait()
