"""Measures how many absent keys a filter lets through, by asking it for some when built.

Filters are sized for an expected share; what real keys make of it, above all of range filters, only
a question tells. The keys asked for are drawn by a fixed seed, so a build gives the same twice.
"""

import numpy as np

from optimizer.indexes.domain.bloom import Bloom
from optimizer.indexes.domain.bloomrf import BloomRF
from optimizer.indexes.domain.byte_strings import Words
from optimizer.indexes.domain.envelope import Form

ASKED = 2_000


def measured(form: Form, body: bytes, keys: Words) -> float | None:
    """Return the share of absent keys that pass; None where hardly any key of the domain is absent.

    `keys` are the filter's distinct ones, ascending. A range filter is asked between its bounds.
    """
    if not keys.size:
        return 0.0
    random = np.random.default_rng(len(keys))
    is_ranged = form == Form.BLOOMRF
    low, high = (int(keys[0]), int(keys[-1])) if is_ranged else (0, (1 << 64) - 1)
    drawn = random.integers(low, high, ASKED, dtype=np.uint64, endpoint=True)
    places = np.minimum(np.searchsorted(keys, drawn), len(keys) - 1)
    absent = drawn[keys[places] != drawn]
    if len(absent) < ASKED // 10:
        return None
    passed = (BloomRF.read(body) if is_ranged else Bloom.read(body)).might_hold(absent)
    return float(passed.mean())
