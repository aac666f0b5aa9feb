"""Links the runs of this area to the pages of what they are about."""

from collections.abc import Callable
from urllib.parse import urlencode

from django.urls import NoReverseMatch, reverse

from lifecycle.core.ui.links import database_url, table_url
from portal.lake.errors import NotVisible
from portal.runs.models import Run
from portal.ui.run_steps import RunSubject, register_run_subject

SubjectOf = Callable[[Run], RunSubject | None]


def register_run_subjects() -> None:
    """Register tables and databases; capabilities register what is their own."""
    register_run_subject("table", linked(_table))
    register_run_subject("database", linked(_database))


def register_page_subject(subject_type: str, title: str, page: str) -> None:
    """Register a type of subject whose page is found by its id."""
    register_run_subject(
        subject_type, linked(lambda run: page_subject(title, page, run.subject_id, lake=run.lake))
    )


def page_subject(title: str, page: str, subject_id: str, *, lake: str) -> RunSubject:
    """Return the link to a page that is found by an id."""
    url = reverse(page, args=[subject_id])
    return RunSubject(f"{title} {subject_id[:8]}", f"{url}?{urlencode({'lake': lake})}")


def linked(make: SubjectOf) -> SubjectOf:
    """Return a maker that gives None for what is gone, or has a name that no address can hold."""

    def subject(run: Run) -> RunSubject | None:
        try:
            return make(run)
        except (NoReverseMatch, NotVisible):
            return None

    return subject


def _table(run: Run) -> RunSubject:
    db, _, table = run.subject_id.partition(".")
    return RunSubject(run.subject_id, table_url(run.lake, db, table))


def _database(run: Run) -> RunSubject:
    return RunSubject(run.subject_id, database_url(run.lake, run.subject_id))
