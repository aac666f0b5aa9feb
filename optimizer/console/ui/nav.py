"""Navigation of the queue, and who asked for the tasks of a run."""

from optimizer.core.selectors.tasks import requesters_of_runs
from portal.access.registry import Page, register_page
from portal.access.roles.domain import STAFF
from portal.ui.run_steps import register_run_cause


def register_pages() -> None:
    """Add the navigation, and the people behind a run's tasks."""
    register_run_cause(requesters_of_runs)
    cancelling = frozenset({"optimizer:task-cancel"})
    register_page(Page("services", "Queue", "optimizer:queue", 30, STAFF, also=cancelling))
