"""Navigation of the queue, and who asked for the tasks of a run."""

from optimizer.core.selectors.tasks import requesters_of_runs
from optimizer.core.ui.badges import SECTION
from portal.access.registry import Page, register_page
from portal.ui.run_steps import register_run_cause


def register_pages() -> None:
    """Add the navigation, and the people behind a run's tasks."""
    register_run_cause(requesters_of_runs)
    register_page(Page(SECTION, "Optimizer queue", "optimizer:queue", "list-details", 62))
