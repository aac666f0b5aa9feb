"""Shared locations: the one-pass sweep finds what a comparison of all pairs finds."""

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.domain.refusal import EXPLANATIONS, LeftOut, Name, SharedLocations

PARTS = st.lists(st.sampled_from(["a", "b", "ab", "c=1"]), min_size=1, max_size=4)
PLACES = st.lists(PARTS.map(lambda parts: "file:///" + "/".join(parts)), max_size=8)


def is_at_or_under(place: str, other: str) -> bool:
    return place == other or place.startswith(other + "/")


@given(PLACES, PLACES)
def test_a_candidate_is_shared_when_something_else_lies_at_or_below_it(
    candidates: list[str], others: list[str]
) -> None:
    mine = [(place, Name("db", f"t{n}")) for n, place in enumerate(candidates)]
    theirs = [(place, Name("other", f"t{n}")) for n, place in enumerate(others)]
    shared = SharedLocations(mine)
    for place, name in [*mine, *theirs]:
        shared.see(place, name)
    for place, name in mine:
        expected = any(
            other != name and is_at_or_under(where, place) for where, other in [*mine, *theirs]
        )
        assert shared.is_shared(place) == expected, (place, mine, theirs)


def test_every_reason_is_explained() -> None:
    assert set(EXPLANATIONS) == set(LeftOut)
