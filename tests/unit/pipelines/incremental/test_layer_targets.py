"""A target keeps as many commits as its readers need, and holds wait no longer than they may."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from pipelines.commits.domain.holds import HOLD, Hold, hold_of
from pipelines.incremental.domain.messages import Field
from pipelines.incremental.domain.states import (
    Facts,
    LayerState,
    lag,
    layer_state,
    schema_words,
)
from pipelines.incremental.domain.target_settings import MOST_KEPT, target_settings
from tests.unit.pipelines.incremental.test_layer_definitions import GOOD

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(("needed", "kept"), [(0, 10), (9, 10), (40, 40), (9_000, MOST_KEPT)])
def test_a_target_keeps_what_its_readers_need(needed: int, kept: int) -> None:
    said = target_settings(GOOD, n_needed=needed, parallelism=2)
    assert said["hoodie.clean.commits.retained"] == str(kept)
    assert kept < int(said["hoodie.keep.min.commits"]) < int(said["hoodie.keep.max.commits"])


@pytest.mark.parametrize(
    ("partition", "key", "kind"),
    [
        ("", ("id",), "Nonpartitioned"),
        ("", ("id", "n"), "Nonpartitioned"),
        ("dt", ("id",), "Simple"),
        ("dt", ("id", "n"), "Complex"),
    ],
)
def test_keys_and_partitions_choose_the_generator(
    partition: str, key: tuple[str, ...], kind: str
) -> None:
    layer = msgspec.structs.replace(GOOD, partition=partition, key=key)
    said = target_settings(layer, n_needed=0, parallelism=2)
    assert said["hoodie.datasource.write.keygenerator.class"].endswith(f".{kind}KeyGenerator")
    assert ("hoodie.index.type" in said) is bool(partition)


def test_a_hold_ends_some_days_after_the_reader_last_read() -> None:
    assert hold_of(None, NOW, now=NOW) is None
    assert hold_of(NOW, NOW, now=NOW + HOLD) == Hold(NOW, is_capped=False)
    assert hold_of(NOW, NOW, now=NOW + HOLD + HOUR) == Hold(NOW, is_capped=True)
    read_later = hold_of(NOW, NOW + 2 * HOUR, now=NOW + HOLD + HOUR)
    assert read_later == Hold(NOW, is_capped=False)


def test_what_a_person_has_to_do_comes_first() -> None:
    good = Facts(is_paused=False, is_held=False, problem="", advanced_at=NOW, every=HOUR)
    assert layer_state(good, now=NOW + 3 * HOUR) is LayerState.CURRENT
    assert layer_state(good, now=NOW + 4 * HOUR) is LayerState.LATE
    broken = Facts(is_paused=False, is_held=False, problem="x", advanced_at=None, every=HOUR)
    assert layer_state(broken, now=NOW) is LayerState.FAILED
    held = Facts(is_paused=False, is_held=True, problem="x", advanced_at=NOW, every=HOUR)
    assert layer_state(held, now=NOW) is LayerState.HELD
    paused = Facts(is_paused=True, is_held=True, problem="x", advanced_at=NOW, every=HOUR)
    assert layer_state(paused, now=NOW) is LayerState.PAUSED


def test_a_lag_is_never_before_now() -> None:
    assert lag(None, now=NOW) is None
    assert lag(NOW + HOUR, now=NOW) == timedelta(0)


def test_changed_columns_are_named() -> None:
    seen = (Field("id", "int"), Field("a", "int"), Field("b", "int"))
    found = (Field("c", "date"), Field("b", "bigint"), Field("id", "int"))
    assert schema_words(seen, found) == "new: c date; gone: a; changed: b from int to bigint"
    assert schema_words(seen, seen[::-1]) == "", "their order is nothing"
