"""How gunicorn writes its log and counts answers: `gunicorn -c python:portal.settings.server`.

It reads the names below; everything else stays on its command line.
"""

import os
from pathlib import Path
from typing import Any

from portal.settings.logs import log_format, logging_config

_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_loggers: dict[str, Any] = {"level": "INFO", "handlers": [], "propagate": True}
logconfig_dict = {
    **logging_config(log_format("json")),
    "loggers": {"gunicorn.error": _loggers, "gunicorn.access": _loggers},
}


def on_starting(_server: Any) -> None:
    """Make the folder in which the processes of this server share their numbers, and empty it.

    Numbers of an earlier server must go all at once: a sum from which some are missing looks like
    answers that were never given.
    """
    var = Path(os.environ.get("LAKEWARDEN_VAR", "var"))
    folder = Path(os.environ.setdefault(_FOLDER, str(var.resolve() / "metrics")))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for file in folder.glob("*.db"):
        file.unlink()
