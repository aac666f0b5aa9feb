"""Tells scratch databases of restore tests from others."""

from uuid import UUID

from lifecycle.models import RestoreTest
from lifecycle.restore_tests.domain import (
    read_scratch,
)


def is_own_scratch(lake: str, database: str) -> bool:
    """Whether a database is a restore test's scratch; a name that only looks like one is not."""
    named = read_scratch(database)
    return (
        named is not None
        and RestoreTest.objects.filter(lake=lake, run_id=UUID(hex=named[0])).exists()
    )
