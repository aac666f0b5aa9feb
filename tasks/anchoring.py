"""Anchors the head of the audit record and mails it to the admins; a break is mailed at once."""

import logging
from datetime import datetime

from django.conf import settings

from portal.access.lakes import all_lakes
from portal.access.roles.domain import ADMIN, ALL_LAKES
from portal.access.selectors import people_of_lake
from portal.audit.anchors import anchor_take, newest_anchor
from portal.lake.errors import PortalError
from portal.notices.services import Mail, notice_queue

EVERY_SECONDS = 3600.0
_log = logging.getLogger(__name__)
_BROKEN = """{problem}

Somebody changed the audit record, or the database was restored from a backup. Nothing is anchored
until a person has checked: compare with the heads that were mailed before

    manage.py verify_audit --head SEQ:HASH

and see docs/operations.md, "The audit record".
"""
_HEAD = """The audit record ends at

    {seq}:{hash}

Keep this mail: with it anybody can tell later whether events up to here were rewritten or cut off
(manage.py verify_audit --head {seq}:{hash}).
"""


def anchor(now: datetime) -> None:
    """Anchor the head; what does not fit goes to the log and to the admins, once a day."""
    try:
        taken = anchor_take(now=now)
    except PortalError as error:
        _log.error("the audit record was not anchored: %s", error.message)
        _tell("audit.broken", "The audit record is broken", _BROKEN, now=now, problem=error.message)
        return
    if taken is not None:
        _log.info("audit head anchored: %s:%s", taken.seq, taken.hash)
    newest = newest_anchor()
    if settings.LAKEWARDEN_AUDIT_MAIL and newest is not None and newest.seq:
        subject = f"Audit record: head {newest.seq}"
        _tell("audit.head", subject, _HEAD, now=now, seq=str(newest.seq), hash=newest.hash)


def _tell(kind: str, subject: str, text: str, *, now: datetime, **values: str) -> None:
    """Queue a mail to every admin of all lakes; again on the same day it changes nothing."""
    lake = next(iter(sorted(all_lakes())), "")
    if not lake:
        return
    mail = Mail(subject, text.format(**values))
    for user in people_of_lake({ADMIN}, ALL_LAKES):
        notice_queue(
            kind,
            lake=lake,
            day=now.date(),
            recipient=user.username,
            email=user.email,
            mail=mail,
            now=now,
        )
