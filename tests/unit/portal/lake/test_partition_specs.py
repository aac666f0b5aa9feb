"""Partial partition names become the metastore's full ones, and nothing else is ever sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.lake.errors import RuleViolation
from portal.lake.names import PartitionName
from portal.lake.partition_specs import expand, full_names

KEYS = ("dt", "hr")
values = st.sampled_from(["1", "01", "a=b", "x/y", "é", None])
leaves = st.builds(lambda *found: str(PartitionName(KEYS, found)), values, values)
specs = st.dictionaries(st.sampled_from(KEYS), values, min_size=1)


def written(spec: dict[str, str | None]) -> str:
    return str(PartitionName(tuple(spec), tuple(spec.values())))


@given(asked=st.lists(specs, max_size=4), names=st.lists(leaves, unique=True, max_size=25))
def test_a_partial_name_means_all_leaves_that_agree_with_it(
    asked: list[dict[str, str | None]], names: list[str]
) -> None:
    def agrees(name: str, spec: dict[str, str | None]) -> bool:
        leaf = PartitionName.parse(name)
        return all(dict(zip(leaf.keys, leaf.values, strict=True))[k] == spec[k] for k in spec)

    found = expand([written(spec) for spec in asked], keys=KEYS, names=names)
    assert list(found.names) == [name for name in names if any(agrees(name, s) for s in asked)]
    missed = {written(s) for s in asked if not any(agrees(name, s) for name in names)}
    assert set(found.unmatched) == missed


def test_names_keep_the_spelling_of_the_metastore() -> None:
    names = ["dt=a%3ab/hr=00", "dt=c/hr=00", "garbage"]
    assert expand(["DT=a%3Ab"], keys=KEYS, names=names).names == ("dt=a%3ab/hr=00",)
    assert expand(["hr=00/dt=c"], keys=KEYS, names=names).names == ("dt=c/hr=00",)
    assert expand([], keys=KEYS, names=names).names == ()
    assert expand(["hr=0"], keys=KEYS, names=names).unmatched == ("hr=0",)


@pytest.mark.parametrize(
    ("spec", "keys", "code"),
    [
        ("dt=1", (), "partition.unpartitioned"),
        ("day=1", KEYS, "partition.key"),
        ("dt=1/DT=2", KEYS, "partition.twice"),
        ("2026-11-21", KEYS, "name.partition"),
        ("", KEYS, "name.partition"),
    ],
)
def test_what_is_no_name_of_the_table_is_refused(
    spec: str, keys: tuple[str, ...], code: str
) -> None:
    with pytest.raises(RuleViolation) as refused:
        expand([spec], keys=keys, names=["dt=1/hr=1"])
    assert refused.value.code == code


def test_a_hundred_thousand_names_are_looked_at_once() -> None:
    names = [f"dt={n // 24}/hr={n % 24:02}" for n in range(100_000)]
    asked = [f"dt={day}" for day in range(500)]
    assert len(expand(asked, keys=KEYS, names=names).names) == 500 * 24


def test_full_names_are_written_as_the_metastore_would() -> None:
    specs = ["HOUR=03/dt=2026-11-21", "dt=2026-11-21/hour=03", "dt=2026-11-21", "dt=a%3Ab/hour="]
    assert full_names(specs, keys=("dt", "hour")) == (
        "dt=2026-11-21/hour=03",
        "dt=a%3Ab/hour=__HIVE_DEFAULT_PARTITION__",
    )
