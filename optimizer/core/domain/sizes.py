"""Words sizes and assigns files to size buckets. All tables share the same buckets.

Counts are kept as a list in the order of `BUCKETS`; what is stored stays comparable because the
buckets do not depend on a table's target.
"""

from collections.abc import Sequence
from dataclasses import dataclass

_STEP = 1024
_MIB = _STEP**2
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")


@dataclass(frozen=True, slots=True)
class Bucket:
    """Files of at least `low` and less than `high` bytes; None is no upper end."""

    name: str
    low: int
    high: int | None


def _bucket(name: str, low_mib: int, high_mib: int | None) -> Bucket:
    return Bucket(name, low_mib * _MIB, None if high_mib is None else high_mib * _MIB)


BUCKETS = (
    _bucket("under 1 MiB", 0, 1),
    _bucket("1-8 MiB", 1, 8),
    _bucket("8-32 MiB", 8, 32),
    _bucket("32-64 MiB", 32, 64),
    _bucket("64-128 MiB", 64, 128),
    _bucket("128-256 MiB", 128, 256),
    _bucket("256-384 MiB", 256, 384),
    _bucket("384-512 MiB", 384, 512),
    _bucket("512 MiB-1 GiB", 512, 1024),
    _bucket("1 GiB and more", 1024, None),
)


def added(one: Sequence[int], other: Sequence[int]) -> list[int]:
    """Add two lists of counts; a shorter or empty one lacks its last buckets."""
    return [
        (one[place] if place < len(one) else 0) + (other[place] if place < len(other) else 0)
        for place in range(len(BUCKETS))
    ]


def size_words(n_bytes: float) -> str:
    """Say a size in the unit that fits."""
    size = float(n_bytes)
    for unit in _UNITS[:-1]:
        if size < _STEP:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.4g} {unit}"
        size /= _STEP
    return f"{size:,.4g} {_UNITS[-1]}"
