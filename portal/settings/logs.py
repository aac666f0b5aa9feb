"""How every process writes its log: LAKEWARDEN_LOG_FORMAT is `json` or `text`."""

import os
import sys
from typing import Any

FORMAT_VARIABLE = "LAKEWARDEN_LOG_FORMAT"
FORMATS = ("json", "text")


def log_format(default: str) -> str:
    """Return the form that the environment asks for.

    Raises:
        ValueError: it asks for another one than `json` or `text`.
    """
    asked = os.environ.get(FORMAT_VARIABLE, "") or default
    if asked not in FORMATS:
        raise ValueError(f"{FORMAT_VARIABLE} is {asked!r}; it may be one of: {', '.join(FORMATS)}.")
    return asked


def logging_config(form: str) -> dict[str, Any]:
    """Return what `logging.config.dictConfig` takes."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"context": {"()": "portal.log_context.ContextFilter"}},
        "formatters": {
            "line": {
                "()": "portal.log_lines.OneLine",
                "format": "%(asctime)s %(levelname)s %(name)s %(message)s",
            },
            "json": {"()": "portal.log_lines.JsonLine"},
        },
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": "json" if form == "json" else "line",
                "filters": ["context"],
                "stream": sys.stderr,
            },
        },
        "root": {"handlers": ["console"], "level": "INFO"},
    }
