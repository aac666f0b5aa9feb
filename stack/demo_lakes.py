"""The demo's second lake, where one is asked for, and the writers of its lakes."""

from datetime import UTC, datetime

from portal.connectors.lake_config import load_lakes
from portal.connectors.metastore import Metastore
from stack.demo_days import Made
from stack.lake.live import is_there, live_of
from stack.programs import Programs
from stack.say import step
from stack.servers.lake_writer import LakeWriter
from stack.servers.second_lake import LAKE
from stack.stack import Stack

SECOND_MADE = "second lake"


def fill_second(programs: Programs, made: Made) -> None:
    """Make the second lake and scan it; its follower starts with the supervisor."""
    with made.once(SECOND_MADE, f"A second lake, {LAKE}, with servers of its own") as todo:
        if todo:
            programs.run("-m", "stack.lake.second", programs.environment["LAKEWARDEN_LAKES"])
            programs.portal("sync_directory")
            now = datetime.now(UTC).isoformat()
            programs.portal("daily_cycle", "--now", now, "--lake", LAKE)


def write_on(stack: Stack) -> None:
    """Have a table of each lake written all the time, each by a program of its own."""
    for name, config in load_lakes(stack.lakes_file).items():
        with Metastore.connect(config) as metastore:
            has_live = is_there(metastore, live_of(name))
        if has_live:
            with step(f"Somebody who writes one table of the lake {name} all the time"):
                LakeWriter(
                    stack.var, ledger=stack.ledger, lakes=stack.lakes_file, lake=name
                ).start()
