"""Builds table mails of notices and reports. HTML and text have the same content.

A mail client shows neither scripts nor outside pictures, so trends are bars made of table cells,
and of block signs in the text part.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from django.conf import settings
from django.template.loader import render_to_string

from portal.notices.services import Mail

ROWS_SHOWN = 50
BAR_PIXELS = 40
_BLOCKS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Cell:
    """One value; `path` is an address on the portal, `is_number` puts it to the right.

    `is_step` is something to do: the text part has its address too.
    """

    text: str
    path: str = ""
    is_number: bool = False
    is_step: bool = False

    @property
    def url(self) -> str:
        """The whole address, as a mail needs it."""
        return portal_url(self.path) if self.path else ""


@dataclass(frozen=True, slots=True)
class Section:
    """One table of a mail; `path` is the list on the portal with exactly these rows."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    path: str = ""
    link: str = "Open the whole list"
    note: str = ""
    n_all: int = 0

    @property
    def shown(self) -> Sequence[tuple[Cell, ...]]:
        """As many rows as a mail holds."""
        return self.rows[:ROWS_SHOWN]

    @property
    def n_more(self) -> int:
        """How many rows stand only in the list."""
        return max(self.n_all, len(self.rows)) - len(self.shown)

    @property
    def columns(self) -> list[tuple[str, bool]]:
        """Each column's title, and whether it holds numbers."""
        numbers = [cell.is_number for cell in self.rows[0]] if self.rows else []
        return list(zip(self.head, numbers or [False] * len(self.head), strict=True))

    @property
    def url(self) -> str:
        """The list's whole address."""
        return portal_url(self.path) if self.path else ""


@dataclass(frozen=True, slots=True)
class Trend:
    """One number over days, with its newest value in words."""

    title: str
    points: Sequence[tuple[date, int]]
    newest: str
    change: str = ""

    @property
    def bars(self) -> list[tuple[str, int]]:
        """Each day with the height of its bar in pixels; no bar is so low that it is not seen."""
        return [
            (f"{day}: {value:,}", max(1, level * BAR_PIXELS // 1000))
            for (day, value), level in zip(self.points, self._levels(), strict=True)
        ]

    @property
    def blocks(self) -> str:
        """The same bars for the text part."""
        top = len(_BLOCKS) - 1
        return "".join(_BLOCKS[level * top // 1000] for level in self._levels())

    def _levels(self) -> list[int]:
        """Return each value between 0 and 1000 thousandths of the highest."""
        highest = max((value for _, value in self.points), default=0)
        return [1000 * max(value, 0) // highest if highest > 0 else 0 for _, value in self.points]


@dataclass(frozen=True, slots=True)
class Closing:
    """The last lines of a mail; `off_url` turns off mails of its kind."""

    text: str = ""
    off_url: str = ""


NO_CLOSING = Closing()


def portal_url(path: str) -> str:
    """Return the whole address of a page."""
    return f"{settings.LAKEWARDEN_BASE_URL}{path}"


def report_mail(
    subject: str,
    *,
    username: str,
    lead: str,
    sections: Sequence[Section],
    trends: Sequence[Trend] = (),
    closing: Closing = NO_CLOSING,
) -> Mail:
    """Write one person's mail; the same content gives the same words."""
    context = {
        "subject": subject,
        "username": username,
        "lead": lead,
        "sections": sections,
        "trends": trends,
        "closing": closing.text,
        "off_url": closing.off_url,
    }
    return Mail(
        subject=f"[Lakewarden] {subject}",
        text=render_to_string("lifecycle/mail/report.txt", context),
        html=render_to_string("lifecycle/mail/report.html", context),
    )
