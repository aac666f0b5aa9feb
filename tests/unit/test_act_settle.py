"""The settle tables: what M, S, D mean, for every combination."""

import itertools

import pytest

from portal.act.restore_settle import Return, decide_return
from portal.act.settle import Verdict, decide

_SETTLE = {
    "MS-": Verdict.NOTHING_HAPPENED,
    "M-D": Verdict.HALF_DONE,
    "--D": Verdict.DONE,
    "MSD": Verdict.NEW_DATA,
    "-SD": Verdict.NEW_DATA,
    "-S-": Verdict.DROPPED_BY_OTHERS,
    "M--": Verdict.DANGER,
    "---": Verdict.DANGER,
}
_RETURN = {
    "--D": Return.NOTHING_HAPPENED,
    "-S-": Return.MOVED,
    "MS-": Return.RESTORED,
    "-SD": Return.PLACE_TAKEN,
}
COMBINATIONS = [
    "".join(letter if there else "-" for letter, there in zip("MSD", bits, strict=True))
    for bits in itertools.product((True, False), repeat=3)
]


@pytest.mark.parametrize("state", COMBINATIONS)
def test_every_state_of_a_dropped_item_has_its_meaning(state: str) -> None:
    m, s, d = (letter != "-" for letter in state)
    assert decide(is_registered=m, has_source=s, has_target=d) is _SETTLE[state]


@pytest.mark.parametrize("state", COMBINATIONS)
def test_a_backup_short_of_its_manifest_is_always_danger(state: str) -> None:
    m, s, d = (letter != "-" for letter in state)
    verdict = decide(is_registered=m, has_source=s, has_target=d, is_short=True)
    assert verdict is (Verdict.DANGER if d else _SETTLE[state])


def test_only_known_states_are_acted_on() -> None:
    acting = {Verdict.HALF_DONE, Verdict.NEW_DATA, Verdict.DONE}
    states = {state for state in COMBINATIONS if _SETTLE[state] in acting}
    assert all("D" in state for state in states)


@pytest.mark.parametrize("state", COMBINATIONS)
def test_every_state_of_a_restored_item_has_its_meaning(state: str) -> None:
    m, s, d = (letter != "-" for letter in state)
    found = decide_return(is_ours=m, has_live=s, has_backup=d)
    assert found is _RETURN.get(state, Return.DANGER)
    short = decide_return(is_ours=m, has_live=s, has_backup=d, is_short=True)
    assert short is Return.DANGER
