"""Asks every source for what a person typed; one that fails does not hide what others found."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from portal.access.models import User
from portal.lake.errors import RuleViolation
from portal.search.domain.words import QUERY_CHARS
from portal.search.registry import Hit, SearchSource, all_sources

log = logging.getLogger("lakewarden.search")

SHOWN = 8
"""How many hits of one source drop down from the field."""
LISTED = 50
"""How many of one source the search page lists."""


@dataclass(frozen=True, slots=True)
class Group:
    """What one source found."""

    key: str
    title: str
    hits: Sequence[Hit] = ()
    has_failed: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """What was found, by source; those that found nothing are left out."""

    text: str
    groups: list[Group] = field(default_factory=list)

    @property
    def failed(self) -> list[Group]:
        """The sources that could not be searched."""
        return [group for group in self.groups if group.has_failed]

    @property
    def with_hits(self) -> list[Group]:
        """The sources that found something."""
        return [group for group in self.groups if group.hits]


def read_text(text: str) -> str:
    """Return a typed text without spaces around it.

    Raises:
        RuleViolation: it has a character that no name can have, or is longer than every name.
    """
    if "\x00" in text:
        raise RuleViolation("search.null", "The text has a null character; no name can have one.")
    text = text.strip()
    if len(text) > QUERY_CHARS:
        raise RuleViolation(
            "search.too_long",
            f"The text has {len(text):,} characters; {QUERY_CHARS} are searched at most.",
        )
    return text


def search(user: User, lake: str, text: str, *, limit: int) -> Found:
    """Return what every source finds, in the order of the sources.

    Raises:
        RuleViolation: the text cannot be searched for.
    """
    text = read_text(text)
    if not text:
        return Found(text)
    asked = (_ask(source, user, lake, text, limit) for source in all_sources())
    return Found(text, [group for group in asked if group.hits or group.has_failed])


def _ask(source: SearchSource, user: User, lake: str, text: str, limit: int) -> Group:
    try:
        hits = source.find(user, lake, text, limit)
    except Exception:
        log.exception("the source %s could not be searched", source.key)
        return Group(source.key, source.title, has_failed=True)
    return Group(source.key, source.title, list(hits)[:limit])
