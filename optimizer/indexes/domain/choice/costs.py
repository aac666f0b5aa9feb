"""What an index costs and what it saves, in milliseconds and bytes, and the rule that follows.

The same rule refuses an index before it is built, drops one that does not pay, and lets a reader
pass over the blobs of one query. Every decision has its figures.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from optimizer.indexes.domain.bitmaps.building import MOST_BY_EQUALITY
from optimizer.indexes.domain.choice.profile import ColumnProfile
from optimizer.indexes.domain.envelope import Kind

DAYS = 30
"""What a build costs is shared among the look-ups of so many days."""
LEAST_ASKED = 20
"""Before an index was asked so often, what it measured is chance."""


@dataclass(frozen=True)
class Speeds:
    """What reading costs here; measured by the portal where it can, else these."""

    open_file_ms: float = 25.0
    """A task with the footer of a data file."""
    scan_mb_a_second: float = 80.0
    request_ms: float = 8.0
    """One ranged read of blobs that lie side by side."""
    load_mb_a_second: float = 100.0
    tasks: int = 8
    """How many files, or requests, are read at one time."""
    build_million_rows_seconds: float = 1.0


class Decision(StrEnum):
    """What becomes of an index."""

    BUILD = "build"
    REFUSE = "refuse"
    KEEP = "keep"
    DROP = "drop"
    USE = "use"
    SKIP = "skip"


@dataclass(frozen=True)
class Judged:
    """A decision with its reason and figures."""

    decision: Decision
    reason: str
    figures: Mapping[str, float]


@dataclass(frozen=True)
class Workload:
    """How often a column is asked for, and how it is."""

    queries_a_day: float = 10.0
    columns_share: float = 1.0
    """The share of a data file's bytes that such a query reads."""


def blob_bytes(kind: Kind, profile: ColumnProfile, bits_a_key: float = 10) -> float:
    """Return how large an index of one data file becomes."""
    rows, distinct = profile.rows_a_file, max(profile.distinct_a_file, 1.0)
    if kind in {Kind.BLOOM, Kind.BLOOMRF}:
        return distinct * bits_a_key / 8 + 100
    if kind == Kind.BITMAP:
        dictionary = distinct * (profile.value_bytes + 4)
        if distinct <= MOST_BY_EQUALITY:
            return min(distinct * rows / 8, rows * 2) + dictionary
        return rows / 8 * math.ceil(math.log2(distinct)) + dictionary
    letters = rows * profile.value_bytes
    # Measured on log lines (bench/README.md): ids make many words, and few n-grams.
    if kind == Kind.WORD_BLOOM:
        return letters / 60 * bits_a_key / 8 + 100
    if kind == Kind.NGRAM_BLOOM:
        return min(letters, 4_000 + letters / 400) * bits_a_key / 8 + 100
    return letters * (0.6 if kind == Kind.WORD_BITMAP else 1.05)


def false_positives(kind: Kind, bits_a_key: float = 10) -> float:
    """Return the share of absent keys that an index of this kind lets through."""
    if kind == Kind.BITMAP:
        return 0.0
    plain = math.exp(-bits_a_key * math.log(2) ** 2)
    return min(1.0, plain * (4.0 if kind == Kind.BLOOMRF else 1.0))


def before_building(
    kind: Kind,
    profile: ColumnProfile,
    workload: Workload,
    *,
    bits_a_key: float = 10,
    speeds: Speeds | None = None,
) -> Judged:
    """Return whether an index is worth building, by what one look-up costs and saves."""
    speed = speeds or Speeds()
    size = blob_bytes(kind, profile, bits_a_key)
    asked = profile.opened_without
    spared = max(asked - profile.holders, 0.0) * (1 - false_positives(kind, bits_a_key))
    load = _load_ms(asked, asked * size, speed)
    saved = _scan_ms(spared, spared * profile.file_bytes * workload.columns_share, speed)
    build = profile.files * profile.rows_a_file / 1e6 * speed.build_million_rows_seconds
    shared = build * 1000 / max(workload.queries_a_day * DAYS, 1e-9)
    figures = {
        "files_without": asked,
        "files_with": asked - spared,
        "loaded_bytes": asked * size,
        "planning_ms": load,
        "saved_ms": saved,
        "build_seconds": build,
        "build_ms_a_query": shared,
        "storage_bytes": profile.files * size,
    }
    if spared < 1:
        said = "a look-up opens as many files with it as without"
        return Judged(Decision.REFUSE, said, figures)
    if load >= saved:
        said = f"it loads for {load:,.0f} ms a look-up and saves {saved:,.0f} ms"
        return Judged(Decision.REFUSE, said, figures)
    if load + shared >= saved:
        said = f"it saves {saved - load:,.0f} ms a look-up, too little for {build:,.0f} s to build"
        return Judged(Decision.REFUSE, said, figures)
    said = f"a look-up opens {asked - spared:,.1f} files instead of {asked:,.1f}"
    return Judged(Decision.BUILD, said, figures)


@dataclass(frozen=True)
class Measured:
    """What an index did in queries that asked it."""

    queries: int
    files_asked: int
    files_dropped: int
    bytes_dropped: float
    loaded_bytes: float


def after_use(measured: Measured, *, speeds: Speeds | None = None) -> Judged:
    """Return whether an index is kept, by what it was seen to do."""
    speed = speeds or Speeds()
    load = _load_ms(measured.files_asked, measured.loaded_bytes, speed)
    saved = _scan_ms(measured.files_dropped, measured.bytes_dropped, speed)
    figures = {
        "queries": float(measured.queries),
        "files_asked": float(measured.files_asked),
        "files_dropped": float(measured.files_dropped),
        "loaded_bytes": measured.loaded_bytes,
        "planning_ms": load,
        "saved_ms": saved,
    }
    if measured.queries < LEAST_ASKED:
        said = f"{measured.queries} queries asked it; it is judged from {LEAST_ASKED} on"
        return Judged(Decision.KEEP, said, figures)
    if load >= saved:
        said = f"in {measured.queries} queries it loaded for {load:,.0f} ms and saved {saved:,.0f}"
        return Judged(Decision.DROP, said, figures)
    said = f"in {measured.queries} queries it left out {measured.files_dropped:,} files"
    return Judged(Decision.KEEP, said, figures)


def at_reading(
    files: int,
    blob_bytes_to_load: float,
    data_bytes: float,
    *,
    expected_dropped: float = 0.5,
    speeds: Speeds | None = None,
) -> Judged:
    """Return whether a query should load the blobs of its candidate files.

    `expected_dropped` is the share of files that this index dropped lately; half where unknown.
    """
    speed = speeds or Speeds()
    load = _load_ms(files, blob_bytes_to_load, speed)
    saved = _scan_ms(files * expected_dropped, data_bytes * expected_dropped, speed)
    figures = {
        "files": float(files),
        "loaded_bytes": blob_bytes_to_load,
        "planning_ms": load,
        "saved_ms": saved,
    }
    if files < 2:
        return Judged(Decision.SKIP, "there is one file to read", figures)
    if load >= saved:
        said = f"its blobs load for {load:,.0f} ms, and {saved:,.0f} ms would be saved"
        return Judged(Decision.SKIP, said, figures)
    return Judged(Decision.USE, f"about {saved - load:,.0f} ms are saved", figures)


def _load_ms(blobs: float, size: float, speed: Speeds) -> float:
    requests = math.ceil(blobs) * speed.request_ms
    return (requests + size / speed.load_mb_a_second / 1000) / speed.tasks


def _scan_ms(files: float, size: float, speed: Speeds) -> float:
    return (files * speed.open_file_ms + size / speed.scan_mb_a_second / 1000) / speed.tasks
