"""Determines the service steps that a Hudi table needs now, whoever may do them.

A need says what is to be done, on which instants and why; what is not needed says that in words
too. Whether a need becomes a task is decided in `deciding.py`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Self

from optimizer.hudi.inspect.domain.damage import damaged_groups
from optimizer.hudi.inspect.domain.facts import FileGroupId, HudiInspection, Instant, InstantState
from optimizer.hudi.inspect.domain.findings import span_words
from optimizer.hudi.inspect.domain.staleness import unplanned, unplanned_commits
from optimizer.hudi.inspect.domain.timeline import (
    WRITES,
    completed,
    pending,
    planned_groups,
    silence_of,
)
from optimizer.hudi.maintenance.domain.tasks import ACTIONS, Service, Step, oldest_first
from optimizer.policies.domain.hudi_policy import HudiPolicy
from portal.lake.counts import count_words

RETRY_AFTER = timedelta(hours=1)
LIST_EVERY = timedelta(days=1)
_MEND = "A service would make the damage last: repair it first."


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads the table's changes and has read the commits that were begun until `since`."""

    name: str
    since: datetime
    is_capped: bool = False
    """It was waited for as long as readers are."""


@dataclass(frozen=True, slots=True)
class RecentActivity:
    """What the portal itself did with the table and still does, and who reads its changes.

    `running` are instants that one of its runs executes; `busy` the services with a task that is
    not ended; `failed` says when an instant was last executed in vain, `tried` when a step was
    last begun, `refused` when people last refused what a service would take away.
    """

    running: frozenset[str] = frozenset()
    busy: frozenset[Service] = frozenset()
    failed: Mapping[str, datetime] = field(default_factory=dict)
    tried: Mapping[tuple[Service, Step], datetime] = field(default_factory=dict)
    refused: Mapping[Service, datetime] = field(default_factory=dict)
    readers: tuple[Reader, ...] = ()


@dataclass(frozen=True, slots=True)
class Need:
    """A step that is needed, or (`is_needed` false) why it is not, under a code."""

    service: Service
    step: Step
    code: str
    reason: str
    instants: tuple[str, ...] = ()
    is_needed: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """All that is decided from; `damaged` are the file groups that no service may rewrite."""

    look: HudiInspection
    policy: HudiPolicy
    lately: RecentActivity
    now: datetime
    damaged: frozenset[FileGroupId]

    @classmethod
    def of(
        cls, look: HudiInspection, policy: HudiPolicy, lately: RecentActivity, now: datetime
    ) -> Self:
        """Put a case together."""
        return cls(look, policy, lately, now, damaged_groups(look))


def executions(case: Case, service: Service) -> Iterable[Need]:
    """Say which pending instants of a service are executed, and why the others are not."""
    step = Step.EXECUTE
    plans = pending(case.look, ACTIONS[service])
    if not plans:
        yield Need(service, step, "none", f"No plan of {service.lower()} is pending.")
        return
    ready = []
    for one in plans:
        waits = _wait_reason(case, one, service)
        if waits is None:
            ready.append(one)
        else:
            code, words = waits
            yield Need(service, step, code, f"{one.instant}: {words}", (one.instant,))
    if not ready:
        return
    chosen = oldest_first(
        (one.instant for one in ready), failed=case.lately.failed, most=case.policy.max_plans
    )
    more = f" {len(chosen)} of them go now." if len(chosen) < len(ready) else ""
    words = (
        f"{count_words(len(ready), 'plan')} of {service.lower()} pending, the oldest for "
        f"{span_words(case.now - ready[0].requested_at)}.{more}"
    )
    yield Need(service, step, "pending", words, chosen, is_needed=True)


def compaction(case: Case) -> Need:
    """Say whether a compaction is to be scheduled of what no pending plan takes."""
    service, step, policy = Service.COMPACTION, Step.SCHEDULE, case.policy
    free, commits = unplanned(case.look), unplanned_commits(case.look)
    if not free or not commits:
        return Need(service, step, "none", "No completed delta commit is in logs without a plan.")
    damaged = case.damaged & {one.group for one in free}
    if damaged:
        words = f"Damaged: {count_words(len(damaged), 'file group')}. {_MEND}"
        return Need(service, step, "damaged", words)
    n = len(pending(case.look, ACTIONS[service]))
    if n >= policy.max_pending:
        words = f"Already pending, and first: {count_words(n, 'plan')}."
        return Need(service, step, "pile", words)
    age = case.now - min(one.completed_at for one in commits)
    due = timedelta(minutes=policy.minutes)
    words = (
        f"Only in the logs of {count_words(len(free), 'file group')}: "
        f"{count_words(len(commits), 'delta commit')}, the oldest for {span_words(age)}"
    )
    if len(commits) < policy.commits and age < due:
        words += f"; a compaction is due from {policy.commits} on, or after {span_words(due)}."
        return Need(service, step, "young", words)
    return Need(service, step, "due", f"{words}.", is_needed=True)


def clustering(case: Case) -> Need:
    """Say whether a clustering of small base files is to be scheduled."""
    service, step, policy = Service.CLUSTERING, Step.SCHEDULE, case.policy
    if not policy.cluster_files:
        return Need(service, step, "off", "Its policy leaves scheduling clusterings to the writer.")
    if pending(case.look, ACTIONS[service]):
        return Need(service, step, "pile", "A clustering is pending already: it goes first.")
    if case.damaged:
        words = f"Damaged: {count_words(len(case.damaged), 'file group')}. {_MEND}"
        return Need(service, step, "damaged", words)
    planned = planned_groups(case.look)
    small = Counter(
        one.group.partition
        for one in case.look.slices
        if one.base_bytes and one.base_bytes < policy.small_bytes and one.group not in planned
    )
    most = max(small.values(), default=0)
    words = f"Small file groups in one partition: at most {most}"
    if most < policy.cluster_files:
        return Need(service, step, "young", f"{words}, below the {policy.cluster_files} allowed.")
    words += ". Until the clustering is executed, updates to these file groups are rejected."
    return Need(service, step, "due", words, is_needed=True)


def clean(case: Case) -> Need:
    """Say whether a clean is to be scheduled."""
    service, step, policy = Service.CLEAN, Step.SCHEDULE, case.policy
    if case.look.table.flag("hoodie.clean.automatic", default=True):
        return Need(service, step, "writer-does", "Its writer cleans by itself.")
    if pending(case.look, ACTIONS[service]):
        return Need(service, step, "pile", "A clean is pending already: it goes first.")
    if case.damaged:
        words = f"Damaged: {count_words(len(case.damaged), 'file group')}. {_MEND}"
        return Need(service, step, "damaged", words)
    cleans = completed(case.look, ACTIONS[service])
    since = cleans[-1].instant if cleans else ""
    n = sum(one.instant > since for one in completed(case.look, WRITES) if not one.is_archived)
    kept = commits_kept(case.look, policy, case.lately.readers)
    is_due = n > kept
    words = f"Since the last clean: {count_words(n, 'commit')}; {kept} are kept."
    for one in case.lately.readers:
        words += f" {_reader_words(one, case.now)}"
    return Need(service, step, "due" if is_due else "young", words, is_needed=is_due)


def commits_kept(look: HudiInspection, policy: HudiPolicy, readers: Iterable[Reader]) -> int:
    """Return how many commits a clean keeps: the policy's, and those that readers need.

    A reader needs the version of the last commit that it has read.
    """
    begun = [one.requested_at for one in completed(look, WRITES) if not one.is_archived]
    needed = (1 + sum(at >= one.since for at in begun) for one in readers if not one.is_capped)
    return max(policy.clean_commits, *needed, 0)


def _reader_words(reader: Reader, now: datetime) -> str:
    behind = span_words(now - reader.since)
    if reader.is_capped:
        return (
            f"{reader.name.capitalize()} has read no commit for {behind} and is not waited for "
            "any more: it will read all rows."
        )
    return f"{reader.name.capitalize()} has read commits until {behind} ago: its version is kept."


def ttl(case: Case) -> Need:
    """Say whether partitions are to be listed that are older than they may become."""
    service, step, days = Service.TTL, Step.SCHEDULE, case.policy.ttl_days
    if not days or not case.look.table.is_partitioned:
        return Need(service, step, "off", "Its partitions are kept for ever, or it has none.")
    listed = case.lately.tried.get((service, step))
    if listed is not None and case.now - listed < LIST_EVERY:
        words = f"They were listed {span_words(case.now - listed)} ago; once a day is enough."
        return Need(service, step, "young", words)
    words = f"Partitions go {days} days after they were last written: those are listed."
    return Need(service, step, "due", words, is_needed=True)


def _wait_reason(case: Case, one: Instant, service: Service) -> tuple[str, str] | None:
    failed = case.lately.failed.get(one.instant)
    if one.instant in case.lately.running:
        return "running", "a run of this portal executes it."
    if failed is not None and case.now - failed < RETRY_AFTER:
        ago = span_words(case.now - failed)
        return "failed", f"it failed {ago} ago and is tried again {span_words(RETRY_AFTER)} after."
    if _is_damaged(case, one, service):
        return "damaged", f"it takes file groups that are damaged. {_MEND}"
    if one.state is InstantState.REQUESTED:
        return None
    silence = silence_of(case.look, one, patience=case.policy.patience, now=case.now)
    if not silence.is_stuck:
        return "begun", f"{silence.words(case.now)} Whoever began it is left to end it."
    if service is not Service.CLEAN:
        return "stuck", f"{silence.words(case.now)} It is rolled back first."
    return None


def _is_damaged(case: Case, one: Instant, service: Service) -> bool:
    if service is Service.CLEAN:
        return bool(case.damaged)
    plan = next((plan for plan in case.look.plans if plan.instant == one.instant), None)
    # A plan that could not be read may take anything.
    return not case.damaged.isdisjoint(plan.file_groups) if plan else bool(case.damaged)
