"""The demo's second lake, where one is asked for."""

from datetime import UTC, datetime

from stack.demo_days import Made
from stack.programs import Programs
from stack.servers.second_lake import LAKE

SECOND_MADE = "second lake"


def fill_second(programs: Programs, made: Made) -> None:
    """Make the second lake and scan it; its follower starts with the supervisor."""
    with made.once(SECOND_MADE, f"A second lake, {LAKE}, with servers of its own") as todo:
        if todo:
            programs.run("-m", "stack.lake.second", programs.environment["LAKEWARDEN_LAKES"])
            programs.portal("sync_directory")
            now = datetime.now(UTC).isoformat()
            programs.portal("daily_cycle", "--now", now, "--lake", LAKE)
