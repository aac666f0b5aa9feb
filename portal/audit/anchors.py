"""Keeps the head of the audit chain outside of the database, where its writer cannot change it.

The chain alone shows a changed row only to somebody who cannot compute it again. So its head goes,
with a keyed hash, to an append-only file, the log and the admins' mail. Whoever rewrites or cuts
the chain afterwards no longer has the anchored hashes.
"""

import fcntl
import hashlib
import hmac
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

from django.conf import settings
from django.core import signing

from portal.audit.models import GENESIS, AuditEvent, AuditHead, LastAnchor
from portal.audit.services import chain_problem
from portal.lake.errors import ExternalFailure, RuleViolation
from portal.lake.reasons import check_reason

RENEW_AFTER = timedelta(hours=24)
_KEY_BYTES = 32
_SALT = "portal.audit.anchored_at"


@dataclass(frozen=True, slots=True)
class Anchor:
    """One line of the file: the head at an instant, bound to the line before by its `mac`."""

    at: str
    seq: int
    hash: str
    previous: str = ""
    accepted: str = ""
    """Why a person let go of the anchors before: a database restored from a backup, say."""
    mac: str = ""

    @property
    def taken_at(self) -> datetime:
        """When the head was read."""
        return datetime.fromisoformat(self.at)

    def sealed(self, key: bytes) -> "Anchor":
        """Return the anchor with its keyed hash."""
        body = json.dumps({**asdict(self), "mac": ""}, sort_keys=True, separators=(",", ":"))
        return replace(self, mac=hmac.new(key, body.encode(), hashlib.sha256).hexdigest())


def anchor_take(*, now: datetime) -> Anchor | None:
    """Anchor the head of the chain; None where nothing was added within the last day.

    Raises:
        RuleViolation: `audit.broken`, the chain does not fit its anchors. Nothing is anchored then,
            because a new anchor would vouch for what was rewritten.
        ExternalFailure: file or key cannot be read or written.
    """
    with _opened() as file:
        anchors, head = _read(file), _head()
        last = anchors[-1] if anchors else None
        problem = _problem(anchors, _key()) or _since(last, head)
        if problem:
            raise RuleViolation("audit.broken", f"The audit record is broken: {problem}.")
        is_old = last is not None and now - last.taken_at >= RENEW_AFTER
        if last is not None and last.seq == head[0] and not is_old:
            _note(last)  # once more, in case the database was away when it was taken
            return None
        return _write(file, anchors, head, now=now)


def anchor_accept(reason: str, *, now: datetime) -> Anchor:
    """Anchor the head although it does not fit; the reason stands in the file for ever.

    Raises:
        RuleViolation: without a reason.
        ExternalFailure: as `anchor_take`.
    """
    check_reason(reason, "audit.reason", "Enter a reason why the chain is not what was anchored.")
    with _opened() as file:
        return _write(file, _read(file), _head(), now=now, reason=reason.strip()[:1000])


def anchors_verify() -> str:
    """Compare the chain with all its anchors; return what does not fit, empty if all does.

    Raises:
        ExternalFailure: file or key cannot be read.
    """
    with _opened() as file:
        return _problem(_read(file), _key())


def anchored_at() -> datetime | None:
    """Return when the head was last anchored on any host, None if it never was.

    A time without the portal's signature counts as none: who writes the database alone cannot keep
    an alarm from going off.
    """
    signed = LastAnchor.objects.values_list("signed", flat=True).first()
    try:
        return datetime.fromisoformat(signing.loads(signed, salt=_SALT)) if signed else None
    except signing.BadSignature:
        return None


def newest_anchor() -> Anchor | None:
    """Return the last anchor of this host, None without one or where the file is not for us."""
    try:
        with Path(settings.LAKEWARDEN_AUDIT_ANCHORS).open(encoding="utf-8") as file:
            anchors = _read(file)
    except OSError:
        return None
    return anchors[-1] if anchors else None


def _write(
    file: IO[str],
    anchors: list[Anchor],
    head: tuple[int, str],
    *,
    now: datetime,
    reason: str = "",
) -> Anchor:
    """Append the head that was looked at."""
    at = now.astimezone(UTC).isoformat(timespec="seconds")
    previous = anchors[-1].mac if anchors else ""
    taken = Anchor(at, *head, previous, reason).sealed(_key())
    file.write(json.dumps(asdict(taken), sort_keys=True) + "\n")
    file.flush()
    os.fsync(file.fileno())
    _note(taken)
    return taken


def _note(taken: Anchor) -> None:
    """Keep in the database when it was taken, for processes that may not read the file."""
    signed = signing.dumps(taken.at, salt=_SALT)
    LastAnchor.objects.update_or_create(name="main", defaults={"signed": signed})


def _head() -> tuple[int, str]:
    head = AuditHead.objects.first()
    return (head.seq, head.hash) if head else (0, GENESIS)


def _problem(anchors: list[Anchor], key: bytes) -> str:
    """Say which anchor does not fit; those before the last accepted one are let go."""
    previous = ""
    for number, anchor in enumerate(anchors, 1):
        if anchor.previous != previous or not hmac.compare_digest(
            anchor.sealed(key).mac, anchor.mac
        ):
            return f"line {number} of the anchors was changed, or a line before it is missing"
        previous = anchor.mac
    start = max((n for n, anchor in enumerate(anchors) if anchor.accepted), default=0)
    return next(_unlike(anchors[start:]), "")


def _unlike(anchors: list[Anchor]) -> Iterator[str]:
    wanted = [anchor for anchor in anchors if anchor.seq]
    for first in range(0, len(wanted), 500):
        part = wanted[first : first + 500]
        rows = AuditEvent.objects.filter(seq__in=[anchor.seq for anchor in part])
        hashes = dict(rows.order_by().values_list("seq", "hash"))
        for anchor in part:
            found = hashes.get(anchor.seq)
            if found is None:
                yield f"event {anchor.seq}, anchored at {anchor.at}, is missing"
            elif found != anchor.hash:
                yield f"event {anchor.seq} is not the one that was anchored at {anchor.at}"


def _since(last: Anchor | None, head: tuple[int, str]) -> str:
    """Recompute what was added since the last anchor, up to the head."""
    start = (last.seq, last.hash) if last else (0, GENESIS)
    return chain_problem(start, head)


def _read(file: IO[str]) -> list[Anchor]:
    try:
        return [Anchor(**json.loads(line)) for line in file if line.strip()]
    except (ValueError, TypeError) as error:
        raise RuleViolation(
            "audit.anchors",
            f"The anchors in {settings.LAKEWARDEN_AUDIT_ANCHORS} cannot be read: {error}. Compare "
            "them with the mailed ones.",
        ) from error


def _key() -> bytes:
    """Read the key; it is made where there is none, for its own account alone."""
    path = Path(settings.LAKEWARDEN_AUDIT_KEY_FILE)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(os.urandom(_KEY_BYTES).hex().encode())
        key = path.read_bytes().strip()
    except OSError as error:
        raise _unreadable(path, error) from error
    if len(key) < _KEY_BYTES:
        raise RuleViolation("audit.key", f"The key in {path} is shorter than {_KEY_BYTES} bytes.")
    return key


@contextmanager
def _opened() -> Iterator[IO[str]]:
    """Open the file to read and append, alone among the processes of this host."""
    path = Path(settings.LAKEWARDEN_AUDIT_ANCHORS)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    except OSError as error:
        raise _unreadable(path, error) from error
    with os.fdopen(handle, "a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        yield file


def _unreadable(path: Path, error: OSError) -> ExternalFailure:
    return ExternalFailure(
        "audit.anchor_file",
        f"{path} cannot be read or written ({error.strerror}).",
        service="config",
        retryable=False,
    )
