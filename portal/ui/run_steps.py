"""What the areas add to the page of a run: next steps, its subject, the people who caused it."""

from collections.abc import Callable, Iterable
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


class RunSubject(NamedTuple):
    """What a run is about, as people read it, and its page."""

    title: str
    url: str


SubjectMaker = Callable[[Run], RunSubject | None]
CauseMaker = Callable[[Run], Iterable[str]]

_subjects: dict[str, SubjectMaker] = {}
_causes: list[CauseMaker] = []


def register_run_subject(subject_type: str, maker: SubjectMaker) -> None:
    """Say how the subjects of a type are shown and linked on the pages of runs."""
    _subjects[subject_type] = maker


def run_subject(run: Run) -> RunSubject | None:
    """Return what a run is about; None where it is about nothing that has a page."""
    maker = _subjects.get(run.subject_type) if run.subject_id else None
    return maker(run) if maker else None


def register_run_cause(maker: CauseMaker) -> None:
    """Name the people for whom a run that the schedule started does its work."""
    if maker not in _causes:
        _causes.append(maker)


def run_causes(run: Run) -> list[str]:
    """Return the people who caused a run beside who requested it, by name."""
    named = {name for maker in _causes for name in maker(run)}
    return sorted(named - {"", run.requested_by})
