"""Menu entries that no area owns, and the platform's own pages in them."""

from portal.access.registry import GEAR, Entry, Page, register_entry, register_page
from portal.access.roles.domain import STAFF
from portal.ui.cards import n_approvals, n_failed_runs

ENTRIES = (
    Entry("home", "Home", "home", 10),
    Entry("tables", "Tables", "table", 20),
    Entry("approvals", "Approvals", "clipboard-check", 30, n_approvals),
    Entry("jobs", "Jobs", "player-play", 100, n_failed_runs),
    Entry(GEAR, "Administration", "settings", 1000),
)
PAGES = (
    Page("home", "Home", "ui:home", 10),
    Page("tables", "Tables", "ui:tables", 10),
    Page("approvals", "Inbox", "ui:approvals", 1),
    Page("jobs", "Jobs", "ui:runs", 10),
    Page(GEAR, "Audit log", "ui:audit", 10, STAFF),
    Page(GEAR, "Users", "ui:people", 20, STAFF, is_of_portal=True),
    Page(GEAR, "Service-account owners", "ui:owners", 30, STAFF),
    Page(GEAR, "Notifications", "ui:mails", 40, STAFF),
    Page(GEAR, "System health", "ui:health", 50, STAFF, is_of_portal=True),
    Page(GEAR, "Emergency stop", "ui:red-button", 60, STAFF),
    Page(GEAR, "API", "ui:api", 90, STAFF),
    Page(GEAR, "API tokens", "ui:tokens", 100, STAFF),
)


def register_menu() -> None:
    """Add the entries and the pages."""
    for entry in ENTRIES:
        register_entry(entry)
    for page in PAGES:
        register_page(page)
