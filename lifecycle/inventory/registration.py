"""Registers `lifecycle.inventory` with the platform."""

from lifecycle.inventory.services.file_system_alarms import KIND, register_file_system_gauge
from lifecycle.inventory.services.item_details import register_inspect_kind
from lifecycle.inventory.services.rescan import register_subscriber
from lifecycle.inventory.ui.nav import register_pages
from lifecycle.inventory.ui.pictures import register_pictures
from lifecycle.inventory.ui.scan import register_scan_steps
from lifecycle.inventory.ui.table_tab import register_partitions_tab
from portal.notices.kinds import MailKind, register_mail_kinds


def register() -> None:
    """Add what this capability offers: runs, questions, pages, home cards."""
    register_inspect_kind()
    register_subscriber()
    register_file_system_gauge()
    register_pages()
    register_pictures()
    register_scan_steps()
    register_partitions_tab()
    register_mail_kinds(
        MailKind(KIND, "Alarm: unknown file system"),
    )
