"""Says as of when things are recorded: now, or while the demo plays a day, that day.

The demo says which day it plays in the file that Home reads (`ui/demo_progress.py`). When files
were read or written, and how long a run took, is told by the real clock also then.
"""

import json
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone


def instant() -> datetime:
    """Return now, or the same time of the day that is being played; production plays none."""
    return timezone.now() - timedelta(days=_days_ago())


def _days_ago() -> int:
    if not (settings.LAKEWARDEN_ALLOW_PLAYED_TIME and settings.LAKEWARDEN_DEMO_PROGRESS):
        return 0
    try:
        told = json.loads(Path(settings.LAKEWARDEN_DEMO_PROGRESS).read_text(encoding="utf-8"))
        return max(0, int(told["days_ago"]))
    except (OSError, ValueError, KeyError, TypeError):
        return 0
