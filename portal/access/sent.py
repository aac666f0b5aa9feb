"""A form that was sent but not acted on, kept so that nobody types its reason again.

It is shown again with its values, for the person to read and send; nothing sends it by itself.
"""

from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.http import HttpRequest

from portal.lake.reasons import shown_text

_KEY = "lw_sent"
_MOST_CHARS = 20_000
_NOT_SHOWN_AGAIN = frozenset({"csrfmiddlewaretoken", "lake"})
_REASON = "reason"
_KEPT_SECONDS = 900


@dataclass(frozen=True, slots=True)
class SentForm:
    """Where a form was sent, why, and its other fields in their order."""

    path: str
    reason: str | None
    fields: tuple[tuple[str, str], ...]

    @property
    def filled_fields(self) -> list[tuple[str, str]]:
        """The other fields that hold something, named as a person reads them."""
        return [
            (name.replace("_", " ").capitalize(), value) for name, value in self.fields if value
        ]


def sent_form(request: HttpRequest) -> SentForm:
    """Return the form of a POST, without passwords.

    Characters of the reason that cannot be shown are replaced.
    """
    pairs = [
        (str(name), str(value))
        for name, values in request.POST.lists()
        for value in values
        if name not in _NOT_SHOWN_AGAIN and "password" not in name
    ]
    reasons = [shown_text(value) for name, value in pairs if name == _REASON]
    others = tuple(pair for pair in pairs if pair[0] != _REASON)
    return SentForm(request.get_full_path(), reasons[-1] if reasons else None, others)


def keep_sent(request: HttpRequest, now: datetime) -> None:
    """Keep the form of a POST in the session, in place of an earlier one, and say what is missing.

    A form too long for a session is not kept, and a kept one is forgotten after 15 minutes.
    """
    request.session.pop(_KEY, None)
    sent = sent_form(request)
    size = len(sent.reason or "") + sum(len(name) + len(value) for name, value in sent.fields)
    if size > _MOST_CHARS:
        messages.warning(request, "Nothing was done yet. Afterwards, fill in the form again.")
        return
    request.session[_KEY] = {
        "at": now.timestamp(),
        "path": sent.path,
        "reason": sent.reason,
        "fields": sent.fields,
    }


def kept_form(request: HttpRequest, now: datetime) -> SentForm | None:
    """Return the form that is kept in the session, if there is one."""
    kept = request.session.get(_KEY)
    if kept is None or now.timestamp() - kept["at"] > _KEPT_SECONDS:
        return None
    fields = tuple((name, value) for name, value in kept["fields"])
    return SentForm(kept["path"], kept["reason"], fields)


def forget_sent(request: HttpRequest) -> None:
    """Drop the kept form: it was sent, or given up."""
    request.session.pop(_KEY, None)
