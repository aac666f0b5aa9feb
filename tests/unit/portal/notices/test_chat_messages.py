"""What is said in a chat, in the shape of each chat."""

import pytest

from portal.lake.errors import RuleViolation
from portal.notices.chat_messages import ChatMessage, chat_body

DAILY = ChatMessage(
    "main",
    "lifecycle.daily",
    "2026-11-25",
    "Lakewarden main: 9 items\nR&D <b>\nhttps://lw.example/x?a=1&b=2",
)


def test_slack_gets_its_three_characters_escaped() -> None:
    text = "Lakewarden main: 9 items\nR&amp;D &lt;b&gt;\nhttps://lw.example/x?a=1&amp;b=2"
    assert chat_body(DAILY, "slack") == {"text": text}


def test_teams_gets_a_card_with_a_button_for_each_address() -> None:
    body = chat_body(DAILY, "teams")
    assert body["type"] == "message"
    [attachment] = body["attachments"]
    card = attachment["content"]
    assert [block["text"] for block in card["body"]] == ["Lakewarden main: 9 items", "R&D <b>"]
    assert card["body"][0]["weight"] == "Bolder"
    assert [one["url"] for one in card["actions"]] == ["https://lw.example/x?a=1&b=2"]


def test_an_empty_message_is_a_card_with_an_empty_title() -> None:
    card = chat_body(ChatMessage("main", "k", "2026-11-25", ""), "teams")
    assert [b["text"] for b in card["attachments"][0]["content"]["body"]] == [""]


def test_a_program_gets_what_was_said() -> None:
    assert chat_body(DAILY, "json") == {
        "lake": "main",
        "kind": "lifecycle.daily",
        "day": "2026-11-25",
        "text": DAILY.text,
    }


def test_an_unknown_shape_names_the_known_ones() -> None:
    with pytest.raises(RuleViolation, match="slack, teams, json"):
        chat_body(DAILY, "icq")
