"""Parses a table's metadata file for its snapshots, branches, tags and retention.

Read from the JSON text that Iceberg itself writes; nothing here opens a table.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from optimizer.iceberg.maintenance.domain.expiry import MAIN, RefFact, Retention, SnapshotFact
from portal.lake.errors import RuleViolation

_GC = "gc.enabled"
_MIN_SNAPSHOTS = "history.expire.min-snapshots-to-keep"
_MAX_AGE = "history.expire.max-snapshot-age-ms"
_MAX_REF_AGE = "history.expire.max-ref-age-ms"


@dataclass(frozen=True, slots=True)
class StatisticsFile:
    """A file of statistics that belongs to one snapshot."""

    snapshot_id: int
    path: str
    n_bytes: int


@dataclass(frozen=True, slots=True)
class ReportedMetadata:
    """A table's metadata, as far as removals ask for it."""

    uuid: str
    snapshot_id: int | None
    snapshots: tuple[SnapshotFact, ...]
    refs: tuple[RefFact, ...]
    ref_ages: Mapping[str, timedelta]
    manifest_lists: Mapping[int, str]
    statistics: tuple[StatisticsFile, ...]
    metadata_log: tuple[str, ...]
    properties: Mapping[str, str]

    @classmethod
    def read(cls, text: str) -> Self:
        """Read the JSON.

        Raises:
            RuleViolation: `removal.metadata`, it is not what Iceberg writes.
        """
        try:
            return cls._of(json.loads(text))
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
            raise RuleViolation(
                "removal.metadata",
                f"The table's metadata cannot be read ({error!r}), so nothing of it is removed.",
            ) from error

    @classmethod
    def _of(cls, said: Mapping[str, Any]) -> Self:
        snapshots = list(said.get("snapshots") or ())
        refs = dict(said.get("refs") or {})
        statistics = [*(said.get("statistics") or ()), *(said.get("partition-statistics") or ())]
        current = said.get("current-snapshot-id")
        properties = {str(key): str(value) for key, value in (said.get("properties") or {}).items()}
        return cls(
            uuid=str(said["table-uuid"]),
            snapshot_id=None if current in (None, -1) else int(current),
            snapshots=tuple(map(_snapshot, snapshots)),
            refs=tuple(_ref(name, one) for name, one in refs.items()),
            ref_ages=_ref_ages(refs, properties),
            manifest_lists={
                int(one["snapshot-id"]): str(one["manifest-list"])
                for one in snapshots
                if one.get("manifest-list")
            },
            statistics=tuple(
                StatisticsFile(
                    int(one["snapshot-id"]),
                    str(one["statistics-path"]),
                    int(one.get("file-size-in-bytes") or 0),
                )
                for one in statistics
            ),
            metadata_log=tuple(str(one["metadata-file"]) for one in said.get("metadata-log") or ()),
            properties=properties,
        )

    @property
    def may_collect(self) -> bool:
        """Whether the table's owner lets files be deleted at all."""
        return self.properties.get(_GC, "true").strip().lower() == "true"

    def retention(self, *, expire_days: int, keep_snapshots: int) -> Retention:
        """Return what stays: by the policy, and by what the table's own settings ask for."""
        own = _whole(self.properties.get(_MAX_AGE))
        return Retention(
            expire_days,
            keep_snapshots,
            _whole(self.properties.get(_MIN_SNAPSHOTS)),
            timedelta(milliseconds=own),
        )

    def lapsed_refs(self, now: datetime) -> list[str]:
        """Return the branches and tags that their own retention lets Iceberg take away by now."""
        at = {one.snapshot_id: one.at for one in self.snapshots}
        return sorted(
            ref.name
            for ref in self.refs
            if ref.name in self.ref_ages
            and now - at.get(ref.snapshot_id, now) >= self.ref_ages[ref.name]
        )


def _snapshot(one: Mapping[str, Any]) -> SnapshotFact:
    parent = one.get("parent-snapshot-id")
    return SnapshotFact(
        int(one["snapshot-id"]),
        None if parent is None else int(parent),
        datetime.fromtimestamp(int(one["timestamp-ms"]) / 1000, UTC),
        is_staged="wap.id" in (one.get("summary") or {}),
    )


def _ref(name: str, one: Mapping[str, Any]) -> RefFact:
    age = one.get("max-snapshot-age-ms")
    least = one.get("min-snapshots-to-keep")
    return RefFact(
        name,
        int(one["snapshot-id"]),
        is_branch=str(one.get("type", "branch")).lower() == "branch",
        min_snapshots=None if least is None else int(least),
        max_age=None if age is None else timedelta(milliseconds=_whole(age)),
    )


def _ref_ages(
    refs: Mapping[str, Mapping[str, Any]], properties: Mapping[str, str]
) -> dict[str, timedelta]:
    """Return how old branches and tags may become; main has no such age."""
    default = _whole(properties.get(_MAX_REF_AGE)) or None
    ages = {name: one.get("max-ref-age-ms") or default for name, one in refs.items()}
    return {
        name: timedelta(milliseconds=_whole(age))
        for name, age in ages.items()
        if age is not None and name != MAIN
    }


def _whole(text: str | int | None) -> int:
    """Read a whole number; what is none or negative asks for nothing more."""
    try:
        found = max(0, int(text or 0))
    except ValueError:
        return 0
    # Iceberg writes its largest number for "never".
    return min(found, int(timedelta(days=36_500).total_seconds() * 1000))
