"""Tests the grants of the portal's two accounts as they are derived from the models."""

import io
import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from portal.audit.grants import Account, differences, rights_by_table, statements, triggers

DB = "portal_db"
OWNER, APP = Account("keeper", "%"), Account("portal", "10.4.%.%")
EVENTS = f"`{DB}`.`audit_auditevent`"


def granted() -> list[str]:
    return [one for one in statements(DB, owner=OWNER, app=APP) if one.endswith(str(APP))]


def shown() -> list[str]:
    """Return the grants as a server shows them."""
    return [f"GRANT USAGE ON *.* TO {APP} IDENTIFIED BY PASSWORD '*1'", *granted()[1:]]


@pytest.mark.django_db
def test_every_table_has_its_rights_and_the_audit_record_fewer() -> None:
    rights = rights_by_table()
    assert set(connection.introspection.table_names()) == set(rights)
    fewer = {table for table, own in rights.items() if own != rights["runs_run"]}
    assert fewer == {"audit_auditevent", "audit_audithead", "django_migrations"}
    assert rights["audit_auditevent"] == {"SELECT", "INSERT"}
    assert rights["audit_audithead"] == {"SELECT", "UPDATE (`hash`, `seq`)"}


def test_what_was_granted_before_goes_first() -> None:
    first, *others = granted()
    assert first == f"REVOKE ALL PRIVILEGES, GRANT OPTION FROM {APP}"
    assert f"GRANT INSERT, SELECT ON {EVENTS} TO {APP}" in others
    assert all(
        re.fullmatch(r"GRANT [A-Z, (`a-z)]+ ON `portal_db`.`\w+` TO .+", one) for one in others
    )
    whole = [one for one in statements(DB, owner=OWNER, app=APP) if "PRIVILEGES ON" in one]
    assert whole == [rf"GRANT ALL PRIVILEGES ON `portal\_db`.* TO {OWNER}"]


def test_grants_as_they_should_be_have_no_differences_and_others_are_named() -> None:
    assert differences(DB, shown()) == []
    columns = [one.replace("(`hash`, `seq`)", "(`seq`, `hash`)") for one in shown()]
    assert differences(DB, columns) == []
    assert differences(DB, [*shown(), f"GRANT DELETE, DROP ON {EVENTS} TO {APP}"]) == [
        f"It may DELETE on {EVENTS}, and must not.",
        f"It may DROP on {EVENTS}, and must not.",
    ]
    for wide in ("*.*", f"`{DB}`.*"):
        found = differences(DB, [*shown(), f"GRANT ALL PRIVILEGES ON {wide} TO {APP}"])
        assert found == [f"It may ALL PRIVILEGES on {wide}, and must not."]
    lost = [one for one in shown() if "`runs_run`" not in one]
    assert f"It may not SELECT on `{DB}`.`runs_run`." in differences(DB, lost)


def test_a_password_is_not_in_the_statements(tmp_path: Path) -> None:
    """The hash is the one that MariaDB's PASSWORD('password') gives."""
    (made,) = Account("portal", "%", "password").creation()
    assert made.endswith("IDENTIFIED BY PASSWORD '*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19'")
    secret, out = tmp_path / "secret", io.StringIO()
    secret.write_text("a long password\n", encoding="utf-8")
    words = ("--database", DB, "--user-password-file", str(secret))
    call_command("database_grants", *words, stdout=out)
    assert "a long password" not in out.getvalue()
    assert out.getvalue().count("CREATE USER IF NOT EXISTS") == 1
    assert out.getvalue().count(" TRIGGER ") == len(triggers(DB, owner=OWNER)) == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--user", "a'; DROP"), "plain names"),
        (("--user", "one", "--owner", "one"), "must be two"),
        (("--user-password-file", "/no/such/file"), "cannot be read"),
        (("--check",), "Only MariaDB"),
    ],
)
def test_what_cannot_be_done_is_said(words: tuple[str, ...], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        call_command("database_grants", "--database", DB, *words)
