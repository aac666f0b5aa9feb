"""Makes proposals of one kind searchable: by their id, or by the words of what they are about."""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TypeVar
from urllib.parse import urlencode

from django.urls import reverse

from portal.access.models import User
from portal.approvals.models import Proposal
from portal.approvals.proposals import ProposalKind
from portal.search.registry import (
    Hit,
    Key,
    ObjectPage,
    SearchSource,
    register_object_page,
    register_source,
)
from portal.search.selectors.objects import with_ids_of
from portal.search.selectors.platform import id_begun, title_matches
from portal.ui.frame.states import badge_for

P = TypeVar("P", bound=Proposal)
LATEST = 200
"""Among how many of the newest proposals one is looked up."""


def register_proposals(
    kind: ProposalKind[P], *, title: str, order: int, page: str, about: Callable[[P], str]
) -> None:
    """Add a kind to the search; `about` names one, and `page` is the address of its page.

    Its pages are among those that a person opened last, while the person may see the proposal.
    """

    def find(user: User, lake: str, text: str, limit: int) -> Sequence[Hit]:
        wanted = _wanted(text)
        newest = kind.visible(lake, user).order_by("-created_at")[:LATEST]
        found = (one for one in newest if wanted(one, about(one)))
        return [_hit(one, about(one), page, lake) for one in islice(found, limit)]

    register_source(SearchSource(f"proposals.{kind.name}", title, order, find))
    singular = title.removesuffix("s")

    def seen(user: User, lake: str, keys: Sequence[Key]) -> list[Key]:
        return with_ids_of(kind.visible(lake, user), keys)

    register_object_page(ObjectPage(page, lambda key: f"{singular} {_only(key)[:8]}", seen))


def _wanted(text: str) -> Callable[[Proposal, str], bool]:
    begun = id_begun(text).replace("-", "")
    return lambda one, about: (
        (bool(begun) and one.pk.hex.startswith(begun)) or title_matches(text, about)
    )


def _hit(one: Proposal, about: str, page: str, lake: str) -> Hit:
    url = f"{reverse(page, args=[one.pk])}?{urlencode({'lake': lake})}"
    return Hit(f"{about} {str(one.pk)[:8]}", url, badge_for(one.state).word)


def _only(key: Key) -> str:
    return str(next(iter(key.values())))
