"""What a cube covers of each partition."""

from optimizer.cubes.domain.coverage import CoveredFile
from optimizer.cubes.domain.partitions import MOST_PARTITIONS, PartitionCoverage, partitions_of


def test_files_and_rows_are_counted_by_partition_newest_first() -> None:
    first, second, third = (CoveredFile(name, 10) for name in "abc")
    files = [("day=2", first), ("day=1", second), ("day=2", third)]

    found = partitions_of(files, {first, second}, {"c": "3 of its rows have no partner"})

    assert found == [
        PartitionCoverage("day=2", 2, 1, 20, 10, "3 of its rows have no partner"),
        PartitionCoverage("day=1", 1, 1, 10, 10),
    ]


def test_a_file_with_other_deletes_is_not_covered() -> None:
    (found,) = partitions_of([("", CoveredFile("a", 10, "f00"))], {CoveredFile("a", 10)}, {})
    assert (found.n_covered, found.n_rows_covered) == (0, 0)


def test_only_the_newest_partitions_are_kept() -> None:
    files = [(f"p{n}", CoveredFile(str(n), 1)) for n in range(MOST_PARTITIONS + 5)]
    found = partitions_of(files, {one for _, one in files}, {})
    assert [one.partition for one in found] == [f"p{n}" for n in range(MOST_PARTITIONS)]
