"""Writes a mail of one form: what happened, to what, what to do, in text and HTML alike."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.template.loader import render_to_string

from portal.lake.lines import one_line
from portal.notices.services import Mail

ROWS_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that a mail speaks of; its name leads to its page."""

    what: str
    words: str = ""
    url: str = ""
    has_lines: bool = False
    """Whether the words are a person's text, whose lines are kept, below the dash."""


@dataclass(frozen=True, slots=True)
class Letter:
    """What a mail says to everybody who gets it; the first rows are written out."""

    subject: str
    intro: str
    rows: Sequence[Row] = ()
    after: Sequence[str] = ()
    n_shown: int = ROWS_SHOWN
    url: str = ""
    url_label: str = ""
    foot: str = ""


def letter_mail(letter: Letter, *, username: str) -> Mail:
    """Write a letter to a person; names in it forge no line and no markup."""
    context = {
        "username": username,
        "subject": letter.subject,
        "intro": letter.intro,
        "rows": letter.rows[: letter.n_shown],
        "n_more": max(0, len(letter.rows) - letter.n_shown),
        "after": letter.after,
        "url": letter.url,
        "url_label": letter.url_label,
        "foot": letter.foot,
    }
    return Mail(
        subject=one_line(f"[Lakewarden] {letter.subject}"),
        text=render_to_string("portal/mail/letter.txt", context),
        html=render_to_string("portal/mail/letter.html", context),
    )
