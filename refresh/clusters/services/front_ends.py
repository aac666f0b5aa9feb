"""Reads which front ends a cluster has now, and which of them respond.

What the leader lists and what our own contact shows are two witnesses, each with its instant. A
front end that is listed no more is forgotten and owes nothing; one that merely fails is kept.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from django.db import transaction

from portal.lake.errors import PortalError
from portal.lake.lines import fitted
from refresh.clusters.domain.addresses import Place
from refresh.clusters.domain.frontends import Contact, FrontEnd, empty_after
from refresh.clusters.models import NAME_LENGTH
from refresh.clusters.services.fe_client import PATIENT, Member, connected, greeted, members_of
from refresh.clusters.services.reach import cluster_password
from refresh.core.connectors.front_end import Budget, Login, contact_of, failure
from refresh.core.domain.answers import Answer, ErrorKind
from refresh.models import Cluster, ClusterFrontEnd

# A leader lists the start that it last heard of; a restart may be older than our look at it.
_HEARSAY = timedelta(seconds=60)
_PROBLEM_LENGTH = 400
_VERSION_LENGTH = 128
_OF_CONTACT = (
    "contact", "contact_at", "silent_at", "login_refused", "empty_after", "unstarted_at",
)  # fmt: skip
_START_LENGTH = 64
_SLOW = (
    "{place} did not list the front ends within {seconds:.0f} s. With a frozen one among them that "
    "takes most of a minute, which a page does not wait: repair it first, or use the shell "
    "(manage.py refresh_cluster), which does"
)
_SAME_EVERYWHERE = (ErrorKind.BAD_LOGIN, ErrorKind.NO_RIGHT)


def login_of(cluster: Cluster) -> Login:
    """Return the login of a cluster.

    Raises:
        RuleViolation: its password file is not as it must be.
        ExternalFailure: the file is not there, or may not be read.
    """
    return Login(cluster.user, cluster_password(cluster.password_file))


def front_ends_read(cluster: Cluster, *, now: datetime) -> None:
    """Greet the front ends, then read their list; what fails is kept as the problem.

    Nobody answers: nothing is deleted, and the rows say that they were silent.
    """
    front_ends_greet(cluster, now=now)
    front_ends_list(cluster, now=now)


def front_ends_greet(cluster: Cluster, *, now: datetime) -> None:
    """Greet every known front end, all at once, and keep who answered; takes a few seconds.

    While one of them is frozen the leader takes most of a minute to list them, and a front end that
    freezes or comes back must be known sooner.
    """
    try:
        login = login_of(cluster)
    except PortalError as error:
        problem_keep(cluster, "Front ends", error.message)
        return
    _greet(cluster, members_of(cluster), login=login, now=now)


def front_ends_list(cluster: Cluster, *, now: datetime) -> None:
    """Read the list of front ends, and greet those that are new in it."""
    try:
        login = login_of(cluster)
    except PortalError as error:
        problem_keep(cluster, "Front ends", error.message)
        return
    before = members_of(cluster)
    listed, problem = listing(before, login=login)
    if listed:
        with transaction.atomic():
            locked = lock(cluster)
            if locked is None:
                return
            _write(locked, listed, now=now)
            cluster.read_at = locked.read_at = now
            locked.save(update_fields=["read_at"])
        # What was known by its address alone has a row only now.
        rows = cluster.front_ends.filter(contact_at=None)
        new = {Place(row.host, row.query_port) for row in rows}
        members = [one for one in members_of(cluster) if one.place in new]
        if members:
            _greet(cluster, members, login=login, now=now)
    problem_keep(cluster, "Front ends", problem)


def _greet(cluster: Cluster, members: Iterable[Member], *, login: Login, now: datetime) -> None:
    answers = greeted(members, login=login)
    with transaction.atomic():
        locked = lock(cluster)
        if locked is not None:
            _write_contacts(locked, answers, now=now)
    refused = [
        f"{place}: {answer.short} Nothing is sent to it until it lets the portal in; that is "
        "tried every few seconds."
        for place, answer in answers.items()
        if answer is not None and answer.meaning is ErrorKind.BAD_LOGIN
    ]
    problem_keep(cluster, "Login", " ".join(refused))


def lock(cluster: Cluster) -> Cluster | None:
    """Lock a cluster's row against another reader; None if it was removed meanwhile."""
    return Cluster.objects.select_for_update().filter(pk=cluster.pk).first()


def listing(
    members: Iterable[Member], *, login: Login, budget: Budget = PATIENT
) -> tuple[list[FrontEnd], str]:
    """Ask one after the other until one lists them all; without any, say why in words.

    Within a brief budget one silence is enough: what keeps one waiting keeps all of them so.
    """
    failed: list[str] = []
    for member, client in connected(members, login=login, budget=budget):
        if isinstance(client, Answer):
            failed.append(failure(client, place=str(member.place)).message)
            if client.meaning in _SAME_EVERYWHERE:
                break
            continue
        try:
            listed = client.front_ends()
        except PortalError as error:
            failed.append(error.message)
            is_silent = error.code == f"starrocks.{ErrorKind.FE_SILENT.lower()}"
            if is_silent and budget.read < PATIENT.read:
                failed[-1] = _SLOW.format(place=member.place, seconds=budget.read)
                break
            if error.code == f"starrocks.{ErrorKind.NO_RIGHT.lower()}":
                break
            continue
        if listed:
            return list({fe.name: fe for fe in listed}.values()), ""
        failed.append(f"{member.place} lists no front end")
    return [], "; ".join(failed) or "No address of a front end is known."


def problem_keep(cluster: Cluster, subject: str, problem: str) -> None:
    """Keep what is wrong with one subject, one a line; an empty text says that it is well."""
    with transaction.atomic():
        row = lock(cluster)
        if row is None:
            return
        known = dict(line.partition(": ")[::2] for line in row.problem.splitlines())
        known.pop(subject, None)
        if problem:
            line = " ".join(problem.split())
            known[subject] = fitted(line, _PROBLEM_LENGTH)
        row.problem = "\n".join(f"{name}: {text}" for name, text in sorted(known.items()))
        row.save(update_fields=["problem"])
    cluster.problem = row.problem


def _write(cluster: Cluster, listed: Iterable[FrontEnd], *, now: datetime) -> None:
    rows = {row.name: row for row in cluster.front_ends.all()}
    names = []
    for fe in listed:
        name = fitted(fe.name, NAME_LENGTH)
        names.append(name)
        row = rows.get(name) or ClusterFrontEnd(cluster=cluster, name=name)
        _take_over(row, fe, now=now)
    cluster.front_ends.exclude(name__in=names).delete()


def _take_over(row: ClusterFrontEnd, fe: FrontEnd, *, now: datetime) -> None:
    start = fitted(fe.start, _START_LENGTH)
    fields: dict[str, object] = {
        "host": fitted(fe.host, NAME_LENGTH),
        "query_port": fe.query_port,
        "is_alive": fe.is_alive,
        "is_leader": fe.is_leader,
        "error": fe.error,
        "version": fitted(str(fe.version), _VERSION_LENGTH),
        "listed_at": now,
    }
    if not fe.query_port:
        if row._state.adding or row.unstarted_at is not None:
            fields["unstarted_at"] = now
        else:
            # A leader that began again has not heard of it yet; it may live, with its caches.
            del fields["query_port"]
    if start:
        emptied = _emptied(row, replace(fe, start=start))
        if emptied is not None:
            fields["empty_after"] = emptied
        fields |= {"seen_start": start, "seen_start_at": now}
    fields["start"] = start
    for name, value in fields.items():
        setattr(row, name, value)
    # The worker keeps its breaker in the same row.
    row.save(update_fields=list(fields) if row.pk else None)


def _emptied(row: ClusterFrontEnd, seen: FrontEnd) -> datetime | None:
    """Return the instant before which nothing in its caches was loaded, if it began again."""
    if row.seen_start_at is None:
        return None
    known = replace(seen, start=row.seen_start)
    return empty_after(known, seen, known_at=row.seen_start_at - _HEARSAY)


def _write_contacts(
    cluster: Cluster, answers: Mapping[Place, Answer | None], *, now: datetime
) -> None:
    for row in cluster.front_ends.all():
        place = Place(row.host, row.query_port)
        newer = row.contact_at is not None and row.contact_at > now
        if place in answers and not newer:
            answer = answers[place]
            row.contact, row.contact_at = contact_of(answer), now
            if row.contact != Contact.ANSWERED:
                row.silent_at = now
            else:
                _write_answer(row, answer)
            row.save(update_fields=list(_OF_CONTACT))


def _write_answer(row: ClusterFrontEnd, answer: Answer | None) -> None:
    """Keep what an answer shows: that it has started, and whether it lets us in."""
    if answer is None:
        row.login_refused = ""
    elif answer.meaning is ErrorKind.BAD_LOGIN:
        row.login_refused = answer.short
    if row.unstarted_at is not None:
        # Nothing in its caches is older than its start.
        row.empty_after, row.unstarted_at = row.unstarted_at - _HEARSAY, None
