"""Registry of the kinds of mail: what people call them, and which of them a person may turn off.

The kind of a notice begins with a registered name; what follows makes it one of several a day.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MailKind:
    """One kind of mail."""

    name: str
    title: str
    may_be_muted: bool = False
    """Whether a person may turn it off; who must answer for data may not."""


_kinds: dict[str, MailKind] = {}


def register_mail_kinds(*kinds: MailKind) -> None:
    """Add kinds; registering a name again replaces it."""
    for kind in kinds:
        _kinds[kind.name] = kind


def mail_kinds() -> list[MailKind]:
    """Return every kind, by title."""
    return sorted(_kinds.values(), key=lambda kind: kind.title)


def mail_kind_of(kind: str) -> MailKind | None:
    """Return the registered kind that a notice's kind begins with; None where there is none."""
    parts = kind.split(".")
    for n in range(len(parts), 0, -1):
        known = _kinds.get(".".join(parts[:n]))
        if known is not None:
            return known
    return None


def mail_kind_title(kind: str) -> str:
    """Return a notice's kind in words; one that nobody registered is spelled from its name."""
    known = mail_kind_of(kind)
    if known is not None:
        return known.title
    names = [part for part in kind.split(".") if part and not part.isdigit()]
    return names[-1].replace("_", " ").capitalize() if names else kind
