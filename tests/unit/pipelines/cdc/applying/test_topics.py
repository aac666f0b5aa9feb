"""Offsets of batches, and the schemas of topics."""

from hypothesis import given
from hypothesis import strategies as st

from pipelines.cdc.applying.domain.messages import Column
from pipelines.cdc.applying.domain.topics import (
    Offsets,
    cut,
    first_schema,
    lake_types,
    next_schema,
    offsets_of,
    offsets_text,
)

_ENDS = st.dictionaries(
    st.tuples(st.sampled_from("ab"), st.integers(0, 2)), st.integers(0, 50), max_size=6
)


@given(st.lists(_ENDS, max_size=6), st.integers(1, 7))
def test_batches_have_every_offset_once_whenever_they_are_cut(
    looks: list[dict[tuple[str, int], int]], most: int
) -> None:
    done: Offsets = {}
    grown: dict[tuple[str, int], int] = {}
    seen: list[tuple[str, int, int]] = []
    for look in [*looks, *[{}] * 60]:
        grown |= {place: max(grown.get(place, 0), end) for place, end in look.items()}
        begins, ends = cut(done, {place: (0, end) for place, end in grown.items()}, most=most)
        assert offsets_of(offsets_text(ends)) == ends
        for topic, places in begins.items():
            for partition, first in places.items():
                assert ends[topic][partition] - first <= most
                seen += [(topic, partition, n) for n in range(first, ends[topic][partition])]
        done = ends
    assert sorted(seen) == sorted(
        (topic, partition, n) for (topic, partition), end in grown.items() for n in range(end)
    )


def test_a_partition_whose_first_records_are_gone_begins_with_those_that_are_there() -> None:
    assert cut({}, {("a", 0): (5, 9)}, most=100) == ({"a": {0: 5}}, {"a": {0: 9}})


def test_fields_that_come_later_are_text_at_the_end() -> None:
    first = first_schema("t", (Column("paid", "boolean"), Column("at", "timestamp")))
    later = next_schema(first, ["z", "b"], version=9)
    assert lake_types(later.columns) == {
        **{"kafka_topic": "string", "kafka_partition": "int", "kafka_offset": "bigint"},
        **{"paid": "boolean", "at": "timestamp", "b": "string", "z": "string"},
    }
    assert (later.number, later.version, later.key) == (2, 9, first.key)
