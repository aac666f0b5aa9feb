"""What belongs to an object beside its structure: kept in intents, and told right or not."""

import json

from lifecycle.backup.engine.extras import Extras, with_accuracy
from lifecycle.backup.engine.journal.records import BatchIntent, Generation, ItemIntent
from tests.support.small_backup import intent_of

BOTH = '{"BASIC_STATS":"true","COLUMN_STATS":{"a":"true","B":"true"}}'


def item(extras: Extras | None) -> ItemIntent:
    generation = Generation(1, 1, "file:///lake/t")
    return ItemIntent(
        "b0000001-i000", "", "file:///lake/t", generation, "{}", (), (), extras=extras
    )


def intent(extras: Extras | None) -> BatchIntent:
    return intent_of([item(extras)], at="2026-11-24T00:00:00+00:00", table_extras=extras)


def test_an_intent_holds_them_and_one_of_before_is_read_without() -> None:
    extras = Extras(grants=("g",), statistics="s", constraints=(("unique", "u"),))
    data = intent(extras).to_bytes()
    assert BatchIntent.from_bytes(data) == intent(extras)
    old = json.loads(data)
    assert old["version"] == 2
    old["version"] = 1
    del old["table_extras"], old["items"][0]["extras"]
    assert BatchIntent.from_bytes(json.dumps(old).encode()) == intent(None)


def test_no_column_is_called_right_whose_statistics_are_not_back() -> None:
    def said(text: str, *columns: str) -> str | None:
        return with_accuracy({"COLUMN_STATS_ACCURATE": text}, columns).get("COLUMN_STATS_ACCURATE")

    assert said(BOTH, "a", "b", "c") == BOTH
    assert said(BOTH, "a") == '{"BASIC_STATS":"true","COLUMN_STATS":{"a":"true"}}'
    assert said(BOTH) == '{"BASIC_STATS":"true"}'
    assert said('{"COLUMN_STATS":{"a":"true"}}') is None
    assert said("true") == "true"
    assert said("[1]") == "[1]"
    assert with_accuracy({"x": "1"}, ()) == {"x": "1"}
