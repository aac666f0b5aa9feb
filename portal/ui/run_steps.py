"""What the areas add to the page of a run: next steps, its subject, the people who caused it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.utils import timezone

from portal.access.models import User
from portal.runs.models import Run
from portal.runs.requests.selectors import run_waits
from portal.ui.selectors import runs_for_user


class RunStep(NamedTuple):
    """One thing to do: a button's words, its address, and what it is for."""

    title: str
    url: str
    reason: str


StepMaker = Callable[[Run, User], RunStep | None]

_makers: list[StepMaker] = []


def register_run_step(maker: StepMaker) -> StepMaker:
    """Offer a step on the pages of runs; it is asked for each run shown and may answer None."""
    if maker not in _makers:
        _makers.append(maker)
    return maker


def run_steps(run: Run, user: User) -> list[RunStep]:
    """Return what this person may do about the run."""
    made = (maker(run, user) for maker in _makers)
    return [step for step in made if step is not None]


class RunSubject(NamedTuple):
    """What a run is about, as people read it, and its page."""

    title: str
    url: str


SubjectMaker = Callable[[Run], RunSubject | None]
CauseMaker = Callable[[Sequence[Run]], Mapping[UUID, Iterable[str]]]

_subjects: dict[str, SubjectMaker] = {}
_not_in_lists: set[str] = set()
_causes: list[CauseMaker] = []


def register_run_subject(subject_type: str, maker: SubjectMaker, *, in_lists: bool = True) -> None:
    """Say how the subjects of a type are shown and linked on the pages of runs.

    One that reads the database is not for lists, which would ask it for each row.
    """
    _subjects[subject_type] = maker
    if not in_lists:
        _not_in_lists.add(subject_type)


def run_subject(run: Run) -> RunSubject | None:
    """Return what a run is about; None where it is about nothing that has a page."""
    maker = _subjects.get(run.subject_type) if run.subject_id else None
    return maker(run) if maker else None


class RunProgress(NamedTuple):
    """A run that lives, and what it waits for: `ui/_progress.html` shows them."""

    run: Run
    waits: str


def progress_shown(run: Run | None, user: User) -> RunProgress | None:
    """Return what a page about its subject shows of a run; None where the person sees no run."""
    if run is None or not runs_for_user(user, run.lake).filter(pk=run.pk).exists():
        return None
    return RunProgress(run, run_waits(run, now=timezone.now()))


def run_seconds(run: Run, *, now: datetime) -> float | None:
    """Return how long a run took, or has run by now; None before it began."""
    began = run.submitted_at or run.claimed_at
    return ((run.finished_at or now) - began).total_seconds() if began else None


def list_subject(run: Run) -> RunSubject | None:
    """Return what a run of a list is about, where that can be said without a query."""
    return None if run.subject_type in _not_in_lists else run_subject(run)


def register_run_cause(maker: CauseMaker) -> None:
    """Name the people for whom runs that the schedule started do their work, by the run's id."""
    if maker not in _causes:
        _causes.append(maker)


def read_causes(runs: Sequence[Any]) -> None:
    """Set `causes` of each run: the people who caused it beside who requested it, by name.

    Each maker is asked once, however many runs there are.
    """
    found = [maker(runs) for maker in _causes]
    for run in runs:
        named = {name for by_run in found for name in by_run.get(run.pk, ())}
        run.causes = sorted(named - {"", run.requested_by})
