"""Builds the week-ahead mail as HTML and text, with a link to the person's exact list."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlencode

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse

from lifecycle.answers.domain import DAYS_OFFERED, AnswerKind, MailLink
from lifecycle.answers.services.links import link_url
from lifecycle.inventory.domain.due_totals import Due
from lifecycle.inventory.selectors.dropped import due_of
from lifecycle.models import ScanSnapshot, TableFinding
from portal.notices.services import Mail

TABLES_SHOWN = 100


@dataclass(frozen=True)
class TableNews:
    """What the mail says about one table."""

    table: TableFinding
    horizon_on: date
    is_new: bool
    unreachable: tuple[str, ...] = ()

    @property
    def due(self) -> Due:
        """What of it is due or due soon."""
        return due_of(self.table)

    @property
    def n_due(self) -> int:
        """How many items are due now or within the notice days."""
        return self.due.n_items

    @property
    def n_bytes(self) -> int:
        """How much data that is."""
        return self.due.n_bytes

    @property
    def what(self) -> str:
        """`the table` or `partitions`, as the seed's rule drops them."""
        return "partitions" if self.table.n_partitions else "the whole table"

    @property
    def url(self) -> str:
        """The page that says why."""
        return f"{settings.LAKEWARDEN_BASE_URL}{table_path(self.table)}"


def week_ahead_mail(
    tables: Sequence[TableNews], *, generation: ScanSnapshot, username: str, kind: str
) -> Mail:
    """Write one person's mail; the same tables give the same words."""
    last = max(news.horizon_on for news in tables)
    context = {
        "username": username,
        "tables": [
            (news, answer_links(news.table, generation=generation, username=username, kind=kind))
            for news in tables[:TABLES_SHOWN]
        ],
        "n_more": max(len(tables) - TABLES_SHOWN, 0),
        "n_tables": len(tables),
        "n_due": sum(news.n_due for news in tables),
        "n_bytes": sum(news.n_bytes for news in tables),
        "horizon_on": last,
        "lake": generation.lake,
        "as_of": generation.as_of,
        "url": list_url(generation.lake, username),
    }
    noun = "table" if len(tables) == 1 else "tables"
    return Mail(
        subject=f"[Lakewarden] Your data in {len(tables)} {noun} expires by {last}",
        text=render_to_string("lifecycle/mail/week_ahead.txt", context),
        html=render_to_string("lifecycle/mail/week_ahead.html", context),
    )


def answer_links(
    table: TableFinding, *, generation: ScanSnapshot, username: str, kind: str
) -> list[tuple[str, str]]:
    """Return the answers that a notice offers for a table: their words and places on the portal."""
    kinds = [AnswerKind.KEEP]
    if table.n_clean_now or table.n_still_read:
        kinds.append(AnswerKind.LET_GO)
    links = [
        MailLink(
            table.lake, table.db, table.table, answer,
            DAYS_OFFERED[0] if answer is AnswerKind.KEEP else 0, username, kind, generation.day,
        )
        for answer in kinds
    ]  # fmt: skip
    return [(link.button, link_url(link)) for link in links]


def list_url(lake: str, username: str) -> str:
    """Return the address of the person's own list of what is due now or soon."""
    return f"{settings.LAKEWARDEN_BASE_URL}{list_path(lake, username)}"


def list_path(lake: str, username: str) -> str:
    """Return the same list's place on the portal."""
    query = urlencode({"lake": lake, "show": "week", "person": username})
    return f"{reverse('lifecycle:expiring')}?{query}"


def table_path(table: TableFinding) -> str:
    """Return the place of a table's page on the portal."""
    path = reverse("ui:table-tab", args=[table.db, table.table, "lifecycle"])
    return f"{path}?{urlencode({'lake': table.lake})}"
