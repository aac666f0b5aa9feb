"""Does people's tasks in the running demo, and counts clicks, fields, page loads and seconds.

Start `./lakewarden demo --detach` first; the tasks act on it, so each is done once in a fresh one.
`python -m bench.clicks --help`; the figures, beside those of the survey of the pages of before, are
in bench/README.md.
"""

import argparse
import sys
import time

from playwright.sync_api import sync_playwright

from bench import click_owner, click_plans, click_staff
from bench.click_hand import Desk, Task
from tests.browser.look import ARGUMENTS

TASKS = (*click_owner.TASKS, *click_plans.TASKS, *click_staff.TASKS)


def count(task: Task, desk: Desk) -> str:
    """Do a task and return its line."""
    if task.prepare:
        task.prepare(desk)
    with desk.at_home(task.who) as hand:
        hand.began = time.monotonic()
        task.do(hand)
        seconds = time.monotonic() - hand.began
    if task.tidy:
        task.tidy(desk)
    cells = (
        f"{task.name} ({task.who})", hand.n_clicks, hand.n_fields, hand.n_loads,
        f"{seconds:.1f}", task.before, task.goal or "",
    )  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


def main(arguments: list[str]) -> None:
    """Do the tasks that are named, or all; prints the rows of the table in bench/README.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", default="http://127.0.0.1:8000")
    parser.add_argument("only", nargs="*", help="parts of names of tasks")
    asked = parser.parse_args(arguments)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS)
        desk = Desk(browser, asked.site)
        for task in TASKS:
            if not asked.only or any(part in task.name for part in asked.only):
                print(count(task, desk), flush=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
