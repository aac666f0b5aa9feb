"""Writes a message for a chat in the shape that its incoming webhook takes.

Slack: https://api.slack.com/reference/surfaces/formatting (three characters are escaped; Mattermost
and Rocket.Chat take the same). Teams: an Adaptive Card as a Workflows webhook takes it; a card does
not turn addresses into links, so each becomes a button. `json` is for programs of one's own.
"""

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from portal.lake.errors import RuleViolation

_ADDRESS = re.compile(r"https?://\S+")
_CARD = "application/vnd.microsoft.card.adaptive"
_CARD_SCHEMA = "http://adaptivecards.io/schemas/adaptive-card.json"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """What is said: the first line of `text` is its title."""

    lake: str
    kind: str
    day: str
    text: str


def chat_body(message: ChatMessage, shape: str) -> dict[str, Any]:
    """Return the JSON body of a message.

    Raises:
        RuleViolation: `webhook.shape`, naming the shapes there are.
    """
    if shape not in _SHAPES:
        raise RuleViolation(
            "webhook.shape",
            f"LAKEWARDEN_WEBHOOK_SHAPE is '{shape}'; it must be one of {', '.join(_SHAPES)}.",
        )
    return _SHAPES[shape](message)


def _slack(message: ChatMessage) -> dict[str, Any]:
    escaped = message.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return {"text": escaped}


def _teams(message: ChatMessage) -> dict[str, Any]:
    title, *lines = _ADDRESS.sub("", message.text).splitlines() or [""]
    blocks = [{"type": "TextBlock", "text": title.strip(" :"), "weight": "Bolder", "wrap": True}]
    blocks += [{"type": "TextBlock", "text": line, "wrap": True} for line in lines if line.strip()]
    actions = [
        {"type": "Action.OpenUrl", "title": "Open in Lakewarden", "url": address}
        for address in _ADDRESS.findall(message.text)
    ]
    card = {"$schema": _CARD_SCHEMA, "type": "AdaptiveCard", "version": "1.4", "body": blocks}
    return {
        "type": "message",
        "attachments": [{"contentType": _CARD, "content": {**card, "actions": actions}}],
    }


_SHAPES: dict[str, Callable[[ChatMessage], dict[str, Any]]] = {
    "slack": _slack,
    "teams": _teams,
    "json": asdict,
}
