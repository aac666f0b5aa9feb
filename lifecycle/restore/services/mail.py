"""Builds every mail about backups: its recipient, the rows it concerns and a link."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse

from portal.notices.services import Mail

ROWS_SHOWN = 100


def backup_mail(
    name: str, *, lake: str, username: str, subject: str, rows: Sequence[Any], **more: object
) -> Mail:
    """Write one person's mail by the templates `lifecycle/mail/<name>`; the same rows, the same."""
    context = {
        "username": username,
        "rows": rows[:ROWS_SHOWN],
        "n_more": max(len(rows) - ROWS_SHOWN, 0),
        "url": f"{settings.LAKEWARDEN_BASE_URL}{reverse('lifecycle:backups')}?lake={lake}",
        **more,
    }
    return Mail(
        subject=f"[Lakewarden] {subject}",
        text=render_to_string(f"lifecycle/mail/{name}.txt", context),
        html=render_to_string(f"lifecycle/mail/{name}.html", context),
    )
