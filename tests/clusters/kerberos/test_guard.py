"""The guard judges by the name that Kerberos proves: what `set_ugi` says no longer counts."""

import uuid
from collections.abc import Iterator

import pytest

from portal.connectors.metastore import Metastore
from stack.kerberized_stack import KerberizedStack
from tests.support.guarded import ADMIN, EVE, OWN, Guarded, refused


class _Proven(Guarded):
    """People who log in by their own keytabs."""

    def as_(self, user: str) -> Metastore:
        """Return a connection of somebody who has logged in."""
        assert isinstance(self.stack, KerberizedStack)
        if user not in self._open:
            self._open[user] = Metastore.connect(self.stack.config_of(user))
        return self._open[user]


@pytest.fixture
def proven(secured: KerberizedStack) -> Iterator[_Proven]:
    """The secured metastore as several people."""
    found = _Proven(secured)
    yield found
    found.close()


def test_a_false_name_changes_nothing_that_its_owner_may_not(proven: _Proven) -> None:
    proven.switch("enforce", sql_is_admin=False)
    # In a place where HDFS lets eve do it, so that only the guard refuses.
    db = f"guard_{uuid.uuid4().hex[:10]}"
    proven.as_(EVE).create_database(proven.database_struct(db, {}))
    name = proven.table(db, OWN, user=EVE)
    table = proven.as_(EVE).table(name)
    table.parameters = {**table.parameters, "TTL": "1"}
    liar = proven.as_(EVE)
    liar.call(lambda client: client.set_ugi(ADMIN, [ADMIN]))
    before = proven.here()
    said = refused(lambda: liar.alter_table_keeping_times(name, table))
    assert "You are eve" in said
    assert proven.policy(name) == OWN
    assert {note["user"] for note in proven.notes(before)} <= {EVE}
    proven.as_(ADMIN).alter_table_keeping_times(name, table)
    assert proven.policy(name) == {**OWN, "TTL": "1"}
