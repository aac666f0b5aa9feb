"""The settle tables: what M, S, D mean, for every combination.

M is S (same generation), C (changed, at its own place) or F (free, or registered elsewhere).
"""

import itertools

import pytest

from lifecycle.backup.engine.metastore.registry import NameState
from lifecycle.backup.engine.settle.batches import Verdict, decide
from lifecycle.backup.engine.settle.restores import Return, decide_return

_NAMES = {"S": NameState.SAME, "C": NameState.CHANGED, "F": NameState.FREE}
_SETTLE = {
    "SS-": Verdict.NOTHING_HAPPENED,
    "S-D": Verdict.HALF_DONE,
    "SSD": Verdict.NEW_DATA,
    "S--": Verdict.DANGER,
    "CS-": Verdict.DROPPED_BY_OTHERS,
    "C-D": Verdict.CHANGED,
    "CSD": Verdict.NEW_DATA,
    "C--": Verdict.DANGER,
    "FS-": Verdict.DROPPED_BY_OTHERS,
    "F-D": Verdict.DONE,
    "FSD": Verdict.NEW_DATA,
    "F--": Verdict.DANGER,
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


@pytest.mark.parametrize("state", _SETTLE)
def test_every_state_of_a_dropped_item_has_its_meaning(state: str) -> None:
    name, s, d = _NAMES[state[0]], *(letter != "-" for letter in state[1:])
    assert decide(name, has_source=s, has_target=d) is _SETTLE[state]


@pytest.mark.parametrize("state", _SETTLE)
def test_a_backup_short_of_its_manifest_is_always_danger(state: str) -> None:
    name, s, d = _NAMES[state[0]], *(letter != "-" for letter in state[1:])
    verdict = decide(name, has_source=s, has_target=d, is_short=True)
    assert verdict is (Verdict.DANGER if d else _SETTLE[state])


def test_only_known_states_are_acted_on() -> None:
    acting = {Verdict.HALF_DONE, Verdict.CHANGED, Verdict.NEW_DATA, Verdict.DONE}
    states = {state for state, verdict in _SETTLE.items() if verdict in acting}
    assert all("D" in state for state in states)
    assert len(_SETTLE) == 3 * 2 * 2


@pytest.mark.parametrize("state", COMBINATIONS)
def test_every_state_of_a_restored_item_has_its_meaning(state: str) -> None:
    m, s, d = (letter != "-" for letter in state)
    found = decide_return(is_ours=m, has_live=s, has_backup=d)
    assert found is _RETURN.get(state, Return.DANGER)
    short = decide_return(is_ours=m, has_live=s, has_backup=d, is_short=True)
    assert short is Return.DANGER
