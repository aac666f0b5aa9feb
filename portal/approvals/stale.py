"""Refuses a decision on content that is not what the person read, and says what changed."""

from collections.abc import Mapping
from typing import Any

from portal.approvals.models import Approval, Proposal
from portal.lake.errors import StaleState

SHOWN = 12
"""How many signs of a digest tell two contents apart for a reader."""


def stale_content(
    said: tuple[str, str], proposal: Proposal, *, read: str, is_told: bool, page: str
) -> StaleState:
    """Return the refusal of a decision on the content with the digest `read`.

    What was asked under that digest is compared with what is asked now, for who may decide.
    """
    code, message = said
    changes = _changes(proposal, read) if is_told else []
    digests = f"Digest: {_short(read)} was read, {_short(proposal.digest)} is asked now"
    return StaleState(code, message, changes="; ".join([*changes, digests]), page=page)


def _changes(proposal: Proposal, read: str) -> list[str]:
    approval = proposal.approval
    if approval is None or not read:
        return []
    if read == proposal.digest:
        return ["Its content was changed after people were asked"]
    rows = Approval.objects.filter(kind=approval.kind, object_id=approval.object_id, digest=read)
    earlier = rows.order_by("-created_at").first()
    if earlier is None:
        return [f"Asked now: {proposal.effect.words or proposal.title}"]
    return _differences(earlier.summary, approval.summary) or ["The list of its items"]


def _differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    names = [*now, *(name for name in then if name not in now)]
    return [
        f"{_words(name)}: {_value(then, name)} then, {_value(now, name)} now"
        for name in names
        if then.get(name) != now.get(name)
    ]


def _words(name: str) -> str:
    return name.removeprefix("n_").replace("_", " ").capitalize()


def _value(summary: Mapping[str, Any], name: str) -> str:
    value = summary.get(name, "nothing")
    return f"{value:,}" if isinstance(value, int) else str(value)


def _short(digest: str) -> str:
    return digest[:SHOWN] or "none"
