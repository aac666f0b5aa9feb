"""How the inbox stands in an address: its tab, filters and place, for pages and API alike."""

import base64
import binascii
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.http import QueryDict

from portal.approvals.inbox import InboxFilter, InboxPage, Shown, Tab
from portal.approvals.inbox_rows import Place
from portal.approvals.proposals import proposal_kinds
from portal.ui.lists.keyset import bad_cursor

INBOX = "inbox"
"""The name in an address of the filter of the list from which a page was opened."""
TAB_WORDS = {Tab.NEEDS_ME: "Needs me", Tab.MINE: "Mine", Tab.ALL: "All"}
STATE_WORDS = {
    Shown.WAITING: "Waiting for approval",
    Shown.APPROVED: "Approved",
    Shown.CLOSED: "Closed",
    Shown.ANY: "Any",
}


def _kinds() -> list[tuple[str, str]]:
    titles = [(kind.name, kind.title) for kind in proposal_kinds()]
    return [("", "Any"), *sorted(titles, key=lambda pair: pair[1])]


class InboxForm(forms.Form):
    """The filters of the inbox."""

    tab = forms.ChoiceField(
        choices=[(one.value, word) for one, word in TAB_WORDS.items()],
        required=False,
        widget=forms.HiddenInput(),
    )
    kind = forms.ChoiceField(choices=_kinds, required=False, label="Kind")
    state = forms.ChoiceField(
        choices=[(one.value, word) for one, word in STATE_WORDS.items()],
        required=False,
        label="State",
    )
    requester = forms.CharField(max_length=150, required=False, label="Requester")
    about = forms.CharField(
        max_length=390,
        required=False,
        label="Database or table",
        widget=forms.TextInput(attrs={"placeholder": "starts with", "autocomplete": "off"}),
    )


class Asked:
    """What an address asks of the inbox; a list's template takes it as its filter."""

    def __init__(self, params: Mapping[str, str]) -> None:
        data = {name: params.get(name, "") for name in InboxForm.base_fields}
        data["state"] = data["state"] or Shown.WAITING.value
        data["tab"] = data["tab"] or Tab.NEEDS_ME.value
        self.form = InboxForm(data)
        self.is_valid = self.form.is_valid()
        if self.is_valid and data["tab"] == Tab.NEEDS_ME:
            del self.form.fields["state"]  # what needs a person waits

    @property
    def is_on(self) -> bool:
        """Whether anything is filtered beside the tab."""
        return self.wanted != InboxFilter(tab=self.wanted.tab)

    @property
    def wanted(self) -> InboxFilter:
        """The filter; that of the tab alone where a value cannot be read."""
        said = self.form.cleaned_data if self.is_valid else {}
        return InboxFilter(
            tab=Tab(said.get("tab") or Tab.NEEDS_ME),
            kind=said.get("kind", ""),
            state=Shown(said.get("state") or Shown.WAITING),
            requester=said.get("requester", ""),
            about=said.get("about", ""),
        )


def inbox_query(params: Mapping[str, str]) -> str:
    """Return the filters of a list as one text, for the pages that are opened from it."""
    kept = QueryDict(mutable=True)
    for name in InboxForm.base_fields:
        if params.get(name):
            kept[name] = params[name]
    return kept.urlencode() or f"tab={Tab.NEEDS_ME}"


def with_inbox(url: str, query: str, params: Mapping[str, str]) -> str:
    """Return an address with the filter of the list, and with the lake where one is named."""
    lake = {"lake": params["lake"]} if params.get("lake") else {}
    return f"{url}?{urlencode({**lake, INBOX: query})}"


def cursors_of(page: InboxPage) -> tuple[str, str]:
    """Return the cursors of the next and of the previous page, empty where there is none."""
    following = _encode(page.rows[-1].place) if page.has_next else ""
    preceding = _encode(page.rows[0].place) if page.has_previous else ""
    return following, preceding


def place_at(cursor: str) -> Place | None:
    """Read a cursor.

    Raises:
        RuleViolation: `page.cursor`, it is none.
    """
    if not cursor:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        values: Any = json.loads(base64.urlsafe_b64decode(padded.encode("ascii")))
        at, kind, key = values
        place = Place(datetime.fromisoformat(at), str(kind), UUID(key))
    except (binascii.Error, ValueError, TypeError, AttributeError, RecursionError):
        place = None
    known = {kind.name for kind in proposal_kinds()}
    if place is None or place.at.tzinfo is None or place.kind not in known:
        raise bad_cursor()
    return place


def _encode(place: Place) -> str:
    text = json.dumps([place.at.isoformat(), place.kind, str(place.id)], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
