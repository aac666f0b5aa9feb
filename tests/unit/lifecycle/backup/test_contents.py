"""Adding up what batches hold: the same sum whichever way executors take them."""

import random
from functools import reduce

from lifecycle.backup.engine.journal.contents import VALUES_KEPT, VALUES_SHOWN, Contents

N_VALUES = VALUES_KEPT + 5_000
SCHEMA = {"columns": [], "partition_keys": [{"name": "id", "type": "string", "comment": ""}]}


def parts(seed: int) -> list[Contents]:
    """Return batches of 500 items each; every value lies in two batches, in an order by lot."""
    values = [*range(N_VALUES), *range(N_VALUES)]
    random.Random(seed).shuffle(values)
    found = []
    for start in range(0, len(values), 500):
        chunk = values[start : start + 500]
        counted: dict[str, int] = {}
        for value in chunk:
            name = f"v{value:05d}"
            counted[name] = counted.get(name, 0) + 1
        found.append(Contents(schema=SCHEMA, n_batches=1, n_items=len(chunk), values=[counted]))
    return found


def test_the_first_values_are_counted_whole_whatever_the_order() -> None:
    line = reduce(Contents.add, parts(1), Contents()).as_dict()
    halves = parts(2)
    tree = reduce(Contents.add, halves[:30], Contents()).add(
        reduce(Contents.add, halves[30:], Contents())
    )
    assert tree.as_dict() == line
    (key,) = line["partition_values"]
    assert (key["is_cut"], key["n_values"]) == (True, VALUES_KEPT)
    shown = [{"value": f"v{n:05d}", "n_items": 2} for n in range(VALUES_SHOWN)]
    assert key["values"] == shown
    assert line["n_items"] == 2 * N_VALUES
