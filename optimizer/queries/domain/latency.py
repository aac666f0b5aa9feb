"""Keeps how long queries took in a histogram of a few hundred bytes, and reads quantiles from it.

Each bucket is a tenth wider than the one before, so that the middle of a bucket is within 5 % of
every time in it. Histograms of days and engines are added by adding their counts.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping

LEAST, MOST = 0.001, 2_678_400.0
"""In seconds: shorter times count as a millisecond, longer ones as a month."""
RELATIVE_ERROR = 0.05
_GROWTH = 1.1
_WIDTH = math.log(_GROWTH)


def bucket_of(seconds: float) -> int:
    """Return the bucket of a time: 0 up to a millisecond."""
    return max(0, math.ceil(math.log(min(max(seconds, LEAST), MOST) / LEAST) / _WIDTH))


def seconds_of(bucket: int) -> float:
    """Return the time that stands for a bucket: as near to its lower end as to its upper."""
    return LEAST * _GROWTH**bucket * 2 / (1 + _GROWTH) if bucket else LEAST


def merged(histograms: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Add histograms up."""
    total: Counter[str] = Counter()
    for one in histograms:
        total.update(one)
    return dict(total)


def with_time(histogram: Mapping[str, int], seconds: float) -> dict[str, int]:
    """Return a histogram with one query more; JSON has texts for keys."""
    return merged([histogram, {str(bucket_of(seconds)): 1}])


def quantile(histogram: Mapping[str, int], share: float) -> float | None:
    """Return the time that so great a share of the queries did not exceed; None without any.

    It is within 5 % of the time of the query at that place among all (nearest rank).
    """
    n_all = sum(histogram.values())
    if not n_all:
        return None
    rank = max(1, math.ceil(share * n_all))
    for bucket in sorted(map(int, histogram)):
        rank -= histogram[str(bucket)]
        if rank <= 0:
            return seconds_of(bucket)
    return None
