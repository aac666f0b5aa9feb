"""What may a person do about how a run ended? Rooms register what they offer on its page."""

from collections.abc import Callable
from typing import NamedTuple

from portal.access.models import User
from portal.runs.models import Run


class RunStep(NamedTuple):
    """One thing to do: a button's words, its address, and what it is for."""

    title: str
    url: str
    why: str


StepMaker = Callable[[Run, User], RunStep | None]

_makers: list[StepMaker] = []


def register_run_step(maker: StepMaker) -> StepMaker:
    """Offer a step on the pages of runs; it is asked for each run shown and may answer None."""
    if maker not in _makers:
        _makers.append(maker)
    return maker


def run_steps(run: Run, user: User) -> list[RunStep]:
    """Give what this person may do about the run."""
    made = (maker(run, user) for maker in _makers)
    return [step for step in made if step is not None]
