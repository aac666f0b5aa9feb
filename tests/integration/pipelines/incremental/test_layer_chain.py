"""A chain of three layers is what all rows make, whatever happens to its source."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random

import pytest

from portal.safety.failpoints import Failpoints
from tests.support.changed_tables import DAYS, some_rows
from tests.support.layered_tables import LayeredLake

pytestmark = pytest.mark.spark
Happening = Callable[[LayeredLake, Random], None]
CITIES = [(1, "d0", "one letter", 0, None), (2, "d0", "two letters", 0, None)]


def begun(layered: LayeredLake, random: Random) -> None:
    layered.cities.write(CITIES)
    layered.source.write(some_rows(random, 25))


def test_changes_flow_through_the_chain_and_nothing_else_is_written(layered: LayeredLake) -> None:
    random = Random(3)
    begun(layered, random)
    chain = layered.chain()
    first = layered.advance(*chain)
    assert [(one.state, one.mode, one.reason) for one in first] == [
        ("done", "full", "The target has no rows yet.")
    ] * 3, first
    layered.assert_rebuilt(*chain)
    again = layered.advance(*chain)
    assert [one.state for one in again] == ["unchanged"] * 3, again
    layered.source.write([*some_rows(random, 4), (77, "d1", "a", 3, None)])
    second = layered.advance(*chain)
    assert [(one.state, one.mode) for one in second] == [("done", "changes")] * 3, second
    assert second[0].n_upserts <= 5
    layered.assert_rebuilt(*chain)
    layered.source.delete([77, 1, 2])
    third = layered.advance(*chain)
    assert third[0].n_deletes >= 1
    assert [one.mode for one in third] == ["changes"] * 3
    layered.assert_rebuilt(*chain)


def upserts(layered: LayeredLake, random: Random) -> None:
    layered.source.write(some_rows(random, random.randrange(1, 9)))


def deletes(layered: LayeredLake, random: Random) -> None:
    layered.source.delete(random.sample(range(40), 6))


def clusters(layered: LayeredLake, random: Random) -> None:
    layered.source.cluster(some_rows(random, 2))


def compacts(layered: LayeredLake, random: Random) -> None:
    layered.source.compact(some_rows(random, 2))


def overwrites_partitions(layered: LayeredLake, random: Random) -> None:
    day = random.choice(DAYS)
    rows = [(100 + n, day, "a", n, None) for n in range(random.randrange(1, 4))]
    layered.source.write(rows, "insert_overwrite")


def deletes_a_partition(layered: LayeredLake, random: Random) -> None:
    layered.source.delete_partition(random.choice(DAYS))


def rolls_back_what_was_read(layered: LayeredLake, random: Random) -> None:
    layered.source.roll_back()


def changes_a_static_table(layered: LayeredLake, random: Random) -> None:
    layered.cities.write([(1, "d0", f"letter {random.random()}", 0, None)])


def cleans_what_was_not_read(layered: LayeredLake, random: Random) -> None:
    for _ in range(3):
        layered.source.clean(some_rows(random, 12), keeping=1)


HAPPENINGS = (
    overwrites_partitions, rolls_back_what_was_read, deletes, upserts, clusters, upserts,
    deletes_a_partition, changes_a_static_table, cleans_what_was_not_read,
)  # fmt: skip


class Died(Exception):
    """A program ended here."""


class Dies(Failpoints):
    """Ends a layer's advance at one of the moments that it passes."""

    def __init__(self, moment: str) -> None:
        super().__init__()
        self.moment = moment

    def reach(self, moment: str) -> None:
        if moment == self.moment:
            raise Died


MOMENTS = ("delete:before", "delete:after", "upsert:before", "upsert:after")


def story(layered: LayeredLake, random: Random, happenings: Sequence[Happening]) -> None:
    begun(layered, random)
    chain = layered.chain()
    layered.advance(*chain)
    for n, happens in enumerate(happenings):
        happens(layered, random)
        dies = chain[n % 3]
        for one in chain[: n % 3]:
            layered.advance(one)
        with suppress(Died):
            layered.run_of(dies, Dies(MOMENTS[n % 4])).advance()
        done = layered.advance(*chain)
        assert all(one.state in ("done", "unchanged") for one in done), (happens, done)
        layered.assert_rebuilt(*chain)


def test_a_chain_is_what_all_rows_make_whatever_happens(layered: LayeredLake) -> None:
    story(layered, Random(5), HAPPENINGS[:2])


@pytest.mark.long
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_long_chain_of_events(layered: LayeredLake, kind: str) -> None:
    layered.source.kind = kind
    random = Random(11)
    mixed = [*HAPPENINGS, *((compacts,) if kind == "MERGE_ON_READ" else ())] * 2
    random.shuffle(mixed)
    story(layered, random, mixed)
