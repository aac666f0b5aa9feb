"""The portal's own processes: the site, the workers, the supervisor and its loops."""

import http.client
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from stack.ledger import Ledger
from stack.places import REPO
from stack.process import LOOPBACK, port_answers
from stack.servers.base import Server


class _PortalProcess(Server):
    """A program of the portal, started in the repository with the stack's environment."""

    # Five of them start at once, beside whatever else a busy machine does.
    ready_seconds = 120.0

    def __init__(
        self, var: Path, *, ledger: Ledger, settings: Mapping[str, str], port: int | None = None
    ) -> None:
        super().__init__(var, ledger=ledger, port=port)
        self.settings = settings

    def prepare(self) -> None:
        """Run where manage.py is; keep no folder of its own."""
        self.directory = REPO

    def environment(self) -> Mapping[str, str]:
        """Return the stack's environment to the portal."""
        return {
            "DJANGO_SETTINGS_MODULE": "portal.settings.development",
            **super().environment(),
            **self.settings,
        }


class Site(_PortalProcess):
    """Gunicorn with the Django site."""

    name = "site"

    @property
    def url(self) -> str:
        """The portal's address."""
        return f"http://{LOOPBACK}:{self.port}"

    def command(self) -> Sequence[str]:
        """Return gunicorn's argv."""
        return [
            *(sys.executable, "-m", "gunicorn", "portal.wsgi:application"),
            *("--bind", f"{LOOPBACK}:{self.port}", "--workers", "2", "--threads", "4"),
            *("--worker-class", "portal.serving.BufferedWorker"),
            *("--config", "python:portal.settings.server"),
            "--no-control-socket",
            *("--worker-tmp-dir", "/dev/shm"),  # noqa: S108  (gunicorn's own advice: no disk beat)
        ]

    def is_ready(self) -> bool:
        """Whether the log-in page is served."""
        return self._get("/") is not None

    def follows(self, lake: str) -> bool:
        """Whether the portal has begun to follow the lake's notification log."""
        return f'lakewarden_events_behind{{lake="{lake}"}}' in (self._get("/metrics") or "")

    def _get(self, path: str) -> str | None:
        """Return what stands at an address; None while it is not served."""
        if not port_answers(self.port):
            return None
        link = http.client.HTTPConnection(LOOPBACK, self.port, timeout=20)
        try:
            link.request("GET", path)
            answer = link.getresponse()
            text = answer.read().decode(errors="replace")
        except (OSError, http.client.HTTPException):
            return None
        finally:
            link.close()
        return text if answer.status < http.client.INTERNAL_SERVER_ERROR else None


class Worker(_PortalProcess):
    """A Celery worker for every queue but that of restores."""

    name = "worker"
    queues = ("--exclude-queues", "restore", "--concurrency", "2")

    def command(self) -> Sequence[str]:
        """Return Celery's argv."""
        return [
            *(sys.executable, "-m", "celery", "-A", "tasks.celery", "worker", *self.queues),
            *("--loglevel", "INFO", "--hostname", f"lw-{self.name}-{self.port}@%h"),
        ]

    def is_ready(self) -> bool:
        """Whether the worker said that it is ready."""
        return " ready." in self.process.said()


class RestoreWorker(Worker):
    """A Celery worker for restores alone, so that they never wait behind other work."""

    name = "restore-worker"
    queues = ("--queues", "restore", "--concurrency", "1")


class _Loop(_PortalProcess):
    """A command of manage.py that runs until it is told to stop."""

    word = ""

    def command(self) -> Sequence[str]:
        """Return manage.py's argv."""
        return [sys.executable, "manage.py", self.word]

    def is_ready(self) -> bool:
        """Whether it runs; it says no more than that."""
        return self.process.is_alive()


class Supervisor(_Loop):
    """`manage.py supervise`: relay, supervise and watchdog loops."""

    name = "supervisor"
    word = "supervise"


class RefreshWorker(_Loop):
    """`manage.py refresh_worker`: keeps front ends fresh; it needs no broker."""

    name = "refresh-worker"
    word = "refresh_worker"


class Capture(_Loop):
    """`manage.py cdc_capture`: reads the sources of pipelines; it needs no broker."""

    name = "capture"
    word = "cdc_capture"


class ShopTables(_PortalProcess):
    """`python -m stack.lake.shop_tables`: defines what is made of the shop's tables, then ends."""

    name = "shop-tables"

    def __init__(
        self, var: Path, *, ledger: Ledger, settings: Mapping[str, str], lakes: Path
    ) -> None:
        super().__init__(var, ledger=ledger, settings=settings)
        self._lakes, self._mark = lakes, var / "shop-tables.made"

    @property
    def is_done(self) -> bool:
        """Whether they were defined once."""
        return self._mark.exists()

    def command(self) -> Sequence[str]:
        """Return the module's argv."""
        module = (sys.executable, "-m", "stack.lake.shop_tables")
        return [*module, str(self._lakes), str(self._mark)]
