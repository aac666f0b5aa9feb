"""What the platform itself finds: tables, databases, pages, runs and people."""

import re
from collections.abc import Sequence
from urllib.parse import urlencode

from django.db.models import Q
from django.urls import NoReverseMatch, reverse

from portal.access.models import User
from portal.access.registry import menu_for
from portal.people.selectors import people_all
from portal.runs.kinds.registry import find_kind
from portal.search.domain.words import name_words, typed_words
from portal.search.registry import (
    Hit,
    SearchSource,
    register_source,
)
from portal.search.selectors.tables import databases_found, tables_found
from portal.ui.frame.states import badge_for
from portal.ui.selectors import runs_for_user
from portal.ui.tables.addresses import database_url, table_url

LATEST_RUNS = 2_000
"""Among how many of the newest runs an id is looked up of which only the beginning was typed."""
_ID = re.compile(r"[0-9a-f]{4,8}(?:-[0-9a-f]{0,4}){0,3}(?:-[0-9a-f]{0,12})?|[0-9a-f]{32}")


def id_begun(text: str) -> str:
    """Return the id that a text is the beginning of; empty where it cannot be one's."""
    text = text.strip().lower()
    return text if _ID.fullmatch(text) else ""


def title_matches(text: str, *titles: str) -> bool:
    """Return whether every typed word begins a word of the titles."""
    asked = typed_words(text)
    known = [word for title in titles for word in name_words(title)]
    return bool(asked) and all(any(one.startswith(word) for one in known) for word in asked)


def tables(user: User, lake: str, text: str, limit: int) -> Sequence[Hit]:
    """Find tables by parts of their names."""
    return [
        Hit(str(row), table_url(lake, row.db, row.name), _of(row.format, row.owner))
        for row in tables_found(user, lake, text, limit)
    ]


def databases(user: User, lake: str, text: str, limit: int) -> Sequence[Hit]:
    """Find databases by parts of their names."""
    found = databases_found(user, lake, text, limit)
    return [Hit(db, database_url(lake, db)) for db in found]


def pages(user: User, lake: str, text: str, limit: int) -> Sequence[Hit]:
    """Find pages of the menu by their title, or by that of their entry."""
    found = []
    for entry, some in menu_for(user, lake):
        for page in some:
            if not title_matches(text, entry.title, page.title):
                continue
            try:
                url = f"{reverse(page.url_name)}?{urlencode({'lake': lake})}"
            except NoReverseMatch:
                continue
            found.append(Hit(page.title, url, entry.title if entry.title != page.title else ""))
    return found[:limit]


def runs(user: User, lake: str, text: str, limit: int) -> Sequence[Hit]:
    """Find runs by their id, or by its beginning among the newest."""
    begun = id_begun(text)
    if not begun:
        return []
    mine = runs_for_user(user, lake)
    rows = mine.order_by("-queued_at").values_list("pk", flat=True)[:LATEST_RUNS]
    plain = begun.replace("-", "")
    keys = [plain] if len(plain) == 32 else [key for key in rows if key.hex.startswith(plain)]
    found = mine.filter(pk__in=keys[:limit]).order_by("-queued_at")
    return [
        Hit(
            f"{_kind_title(run.kind)} {str(run.pk)[:8]}",
            reverse("ui:run", args=[run.pk]),
            badge_for(run.state).word,
        )
        for run in found.only("kind", "state")
    ]


def people(user: User, lake: str, text: str, limit: int) -> Sequence[Hit]:
    """Find people by the beginning of a name or address, for those who see the list of people."""
    del lake  # an account is of no lake
    if not user.is_portal_staff:
        return []
    rows = people_all()
    for part in text.split()[:4]:
        rows = rows.filter(
            Q(username__istartswith=part)
            | Q(first_name__istartswith=part)
            | Q(last_name__istartswith=part)
            | Q(email__istartswith=part)
        )
    return [
        Hit(
            row.get_full_name() or row.username,
            f"{reverse('ui:people')}?{urlencode({'username': row.username})}",
            row.username,
        )
        for row in rows.order_by("username")[:limit]
    ]


SOURCES = (
    SearchSource("tables", "Tables", 10, tables),
    SearchSource("databases", "Databases", 20, databases),
    SearchSource("runs", "Runs", 60, runs),
    SearchSource("people", "People", 70, people),
    SearchSource("pages", "Pages", 80, pages),
)


def register_sources() -> None:
    """Add what the platform finds."""
    for source in SOURCES:
        register_source(source)


def _kind_title(name: str) -> str:
    kind = find_kind(name)
    return kind.title if kind else name


def _of(*words: str) -> str:
    return ", ".join(word for word in words if word)
