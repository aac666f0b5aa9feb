"""Names the files by which a removal says what it is about to delete and what went.

They lie in the fence of the removing run: a directory in its spool, made by the launcher and
renamed when the run is settled, so that a driver that was given up can write no more of them.
"""

import re

ACTING = "acting"
"""In a request: the run deletes under the lease of its fence."""
FENCE = "acting"
SEALED = "acted"
_PAPER = re.compile(r"(?P<half>intent|done)\.(?P<task>\d+)\.(?P<step>\d+)\.json\Z")


def intent_name(task: int, step: int) -> str:
    """Return the name of the file that says what a step of a task is about to delete."""
    return f"intent.{task}.{step:06d}.json"


def done_name(task: int, step: int) -> str:
    """Return the name of the file that says what a step of a task deleted."""
    return f"done.{task}.{step:06d}.json"


def read_name(name: str) -> tuple[str, int, int] | None:
    """Return which half of which task's step a file is; None for any other file."""
    found = _PAPER.match(name)
    return (found["half"], int(found["task"]), int(found["step"])) if found else None
