"""Schedules a Hudi table's next inspection, its depth, and what earlier results still hold.

Hudi's commits leave no event in the metastore unless the writer keeps it in step, so tables are
looked at by the clock. Log files are read each hour and keys each day; what was found in them then
holds until they are read again. Where something was found, logs are read each time: a service must
know that they are well again.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from optimizer.hudi.inspect.domain.facts import BlockState, DuplicateKey, HudiInspection, LogBlock
from optimizer.policies.domain.hudi_policy import HudiPolicy

EVERY = timedelta(minutes=15)
RESIDENT_EVERY = timedelta(minutes=2)
LOGS_EVERY = timedelta(hours=1)
KEYS_EVERY = timedelta(days=1)
RETRY = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class LastRead:
    """What is known of earlier looks at a table, and what somebody wants of the next."""

    logs_at: datetime | None = None
    keys_at: datetime | None = None
    has_bad_logs: bool = False
    include_logs: bool = False
    wants_keys: bool = False

    def reads_logs(self, now: datetime) -> bool:
        """Whether the next look reads log files."""
        is_due = self.logs_at is None or now - self.logs_at >= LOGS_EVERY
        return is_due or self.has_bad_logs or self.include_logs

    def reads_keys(self, now: datetime) -> bool:
        """Whether it compares keys too."""
        return self.keys_at is None or now - self.keys_at >= KEYS_EVERY or self.wants_keys


def next_inspection_at(inspected_at: datetime, policy: HudiPolicy) -> datetime:
    """Say when a table is looked at again of which nothing is heard meanwhile."""
    return inspected_at + (RESIDENT_EVERY if policy.is_continuous else EVERY)


def carried(
    look: HudiInspection, before: HudiInspection | None, *, read_logs: bool, read_keys: bool
) -> HudiInspection:
    """Return a look with what an earlier one found in logs and keys that were not read again.

    Logs that are gone since, and blocks whose instant was completed since, are left out.
    """
    if before is None:
        return look
    if not read_logs:
        blocks = tuple(_blocks(look, before))
        look = replace(look, blocks=blocks, has_read_logs=before.has_read_logs)
    if not read_keys:
        duplicates = tuple(_duplicates(look, before))
        look = replace(look, duplicates=duplicates, has_read_keys=before.has_read_keys)
    return look


def _blocks(look: HudiInspection, before: HudiInspection) -> list[LogBlock]:
    with_logs = {one.group for one in look.slices if one.n_logs}
    completed = {one.instant for one in look.instants if not one.is_pending}
    return [
        one
        for one in before.blocks
        if one.group in with_logs
        and not (one.state is not BlockState.CORRUPT and one.instant in completed)
    ]


def _duplicates(look: HudiInspection, before: HudiInspection) -> list[DuplicateKey]:
    there = {one.group for one in look.slices}
    known = {(one.partition, one.file_id) for one in there}
    kept = (
        replace(one, file_ids=tuple(f for f in one.file_ids if (one.partition, f) in known))
        for one in before.duplicates
    )
    return [one for one in kept if len(one.file_ids) > 1]
