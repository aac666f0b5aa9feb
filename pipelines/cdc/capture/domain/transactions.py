"""Where transactions end in a binary log: only there can a capture resume.

In the middle of one the table maps of its rows would be missing.
"""

import re

from portal.lake.errors import RuleViolation

_XID, _GTID, _ANONYMOUS, _XA_PREPARE, _MARIADB_GTID = 16, 33, 34, 38, 162
_TABLE_MAP = 19
_PREPARED_XA = 64
_BEGINS = re.compile(r"\s*(BEGIN\b|XA\s+START\b|START\s+TRANSACTION\b)", re.IGNORECASE)
_WITHIN = re.compile(r"\s*(SAVEPOINT\b|XA\s+END\b|ROLLBACK\s+(WORK\s+)?TO\b)", re.IGNORECASE)
_ENDS = re.compile(r"\s*(COMMIT\b|ROLLBACK\b|XA\s+(COMMIT|ROLLBACK)\b)", re.IGNORECASE)
_TWO_PHASES = re.compile(r"\s*XA\s+START\b", re.IGNORECASE)


class Transactions:
    """Follows the log's events; `has_ended` after each says whether none is open."""

    def __init__(self) -> None:
        self.has_ended = True
        self._is_prepared_later = False

    def query(self, text: str) -> bool:
        """Take a statement in; returns whether it only begins or ends a transaction."""
        if _BEGINS.match(text):
            self.has_ended = False
            self._is_prepared_later = bool(_TWO_PHASES.match(text))
            return True
        if _WITHIN.match(text):
            return True
        self.has_ended = True
        self._is_prepared_later = False
        return bool(_ENDS.match(text))

    def rows(self) -> None:
        """Take rows of a wanted table in.

        Raises:
            RuleViolation: `cdc.xa`, where they may yet be rolled back after they were logged.
        """
        if self._is_prepared_later:
            raise RuleViolation(
                "cdc.xa",
                "A distributed transaction (XA) wrote into a captured table. Its rows are logged "
                "when it is prepared and may be rolled back later, so it cannot be captured; leave "
                "the table out, or raise the epoch so that every table is loaded again.",
            )

    def event(self, kind: int, body: bytes) -> None:
        """Take an event in that is neither a statement nor rows."""
        if kind == _MARIADB_GTID:
            self._is_prepared_later = bool(body[12] & _PREPARED_XA)
        if kind in (_XID, _XA_PREPARE):
            self.has_ended = True
            self._is_prepared_later = False
        elif kind in (_GTID, _ANONYMOUS, _MARIADB_GTID, _TABLE_MAP):
            self.has_ended = False


def query_of(body: bytes) -> tuple[str, str]:
    """Return the current database and the text of a query event's body."""
    db_length = body[8]
    at = 13 + int.from_bytes(body[11:13], "little")
    db = body[at : at + db_length].decode("utf-8", "replace")
    return db, body[at + db_length + 1 :].decode("utf-8", "replace")
