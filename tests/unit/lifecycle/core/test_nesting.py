"""The sweep over locations equals looking at every pair."""

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.core.domain.nesting import (
    RELATED_SHOWN,
    NamedLocation,
    OwnedLocation,
    OwnedLocations,
    location_key,
    range_under,
    shared_locations,
)
from portal.lake.paths import LakePath
from tests.unit.portal.lake.places import paths

many = st.lists(paths(), max_size=30)


@given(many)
def test_shared_locations_are_those_of_all_pairs(places: list[LakePath]) -> None:
    named = [NamedLocation(f"t{number}", place) for number, place in enumerate(places)]
    expected = {
        one.name
        for one in named
        for other in named
        if one is not other and other.path.is_at_or_under(one.path)
    }
    found = {shared.name: shared for shared in shared_locations(named)}
    by_name = {one.name: one.path for one in named}
    assert set(found) == expected
    for name, shared in found.items():
        assert shared.other != name
        assert by_name[shared.other].is_at_or_under(by_name[name])
        assert shared.equal == (by_name[shared.other] == by_name[name])


@given(many, paths())
def test_a_range_holds_exactly_what_lies_at_or_under(
    places: list[LakePath], asked: LakePath
) -> None:
    keys = sorted(map(location_key, places))
    start, end = range_under(keys, location_key(asked))
    inside = sorted(location_key(place) for place in places if place.is_at_or_under(asked))
    assert keys[start:end] == inside


@given(
    st.lists(st.tuples(paths(), st.sampled_from("xyz")), max_size=60),
    paths(),
    st.sampled_from("xyz"),
)
def test_others_are_counted_and_the_first_named(
    places: list[tuple[LakePath, str]], asked: LakePath, owner: str
) -> None:
    owned = [OwnedLocation(who, f"t{n}", place) for n, (place, who) in enumerate(places)]
    names, count = OwnedLocations(owned).of_others(asked, owner)
    inside = sorted(
        (location_key(one.path), one.name)
        for one in owned
        if one.owner != owner and one.path.is_at_or_under(asked)
    )
    assert count == len(inside)
    assert list(names) == [name for _, name in inside][:RELATED_SHOWN]


@given(st.lists(st.tuples(paths(), st.sampled_from("xy")), min_size=1, max_size=60), st.data())
def test_the_same_owners_are_counted_without_the_asker(
    places: list[tuple[LakePath, str]], data: st.DataObject
) -> None:
    owned = [OwnedLocation(who, f"t{n}", place) for n, (place, who) in enumerate(places)]
    me = data.draw(st.sampled_from(owned))
    names, count = OwnedLocations(owned).of_same(me.path, me.owner, but=me.name)
    inside = sorted(
        (location_key(one.path), one.name)
        for one in owned
        if one is not me and one.owner == me.owner and one.path.is_at_or_under(me.path)
    )
    assert count == len(inside)
    assert list(names) == [name for _, name in inside][:RELATED_SHOWN]
