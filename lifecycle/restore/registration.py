"""Registers `lifecycle.restore` with the platform."""

from lifecycle.restore.run_kinds import register_backup_kinds
from lifecycle.restore.services.contents import register_inspect_kinds
from lifecycle.restore.services.late_commits import LATE_COMMIT
from lifecycle.restore.services.purges import NOTICE_KIND
from lifecycle.restore.services.undo import register_undo_kind
from lifecycle.restore.ui.nav import register_pages
from lifecycle.restore.ui.pictures import register_pictures
from lifecycle.restore.ui.run_subjects import register_run_subjects
from lifecycle.restore.ui.table_tab import register_backups_tab
from lifecycle.restore.ui.tour import register_tour
from portal.notices.kinds import MailKind, register_mail_kinds


def register() -> None:
    """Add what this capability offers: runs, questions, pages, home cards."""
    register_backup_kinds()
    register_inspect_kinds()
    register_undo_kind()
    register_pages()
    register_tour()
    register_pictures()
    register_run_subjects()
    register_backups_tab()
    register_mail_kinds(
        MailKind(NOTICE_KIND, "Final notice before a purge"),
        MailKind(LATE_COMMIT, "Data written after its drop"),
    )
