"""Runs every test on MariaDB as the account of the portal's processes.

Loaded by name (`-p tests.support.as_app_account`). The database is made, and emptied after each
test, by the account that pytest was started with.
"""

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def _accounts(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Both accounts, as long as the tests run."""
    # Imported here: a plugin is loaded before Django's apps are.
    from django.db import connection

    from tests.support import app_account

    with django_db_blocker.unblock():
        name = str(connection.settings_dict["NAME"])
        app_account.accounts_make(name)
        yield
        app_account.accounts_drop(name)


@pytest.fixture(autouse=True)
def as_the_portals_account(_accounts: None, transactional_db: None) -> Iterator[None]:
    """Sign in as the processes do; the row of the chain's head is there, as after a migration."""
    from django.db import connection

    from portal.audit.models import AuditHead
    from tests.support import app_account

    name = str(connection.settings_dict["NAME"])
    AuditHead.objects.get_or_create(name="main")
    app_account.triggers_make(name)
    with app_account.signed_in_as(app_account.app()):
        yield
    # Emptying the tables after a test is what the triggers are there to stop.
    app_account.triggers_drop(name)
