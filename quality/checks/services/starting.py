"""Writes the first draft of a table's checks: proposed from its columns, or read from Soda's form.

Nothing is saved; a person edits the draft, tries it and saves it.
"""

from typing import Any

from portal.access.lakes import get_lake
from portal.access.models import User
from portal.connectors.metastore import Metastore
from portal.lake.names import TableName
from quality.checks.domain.documents import write_document
from quality.checks.domain.rules import CheckSet as Document
from quality.checks.domain.starting_rules import starting_rules
from quality.ready_flag.services.tables import keys_of, table_seen


def checks_propose(lake: str, table: str, *, user: User) -> str:
    """Return the document of rules that a table without any may start with.

    Raises:
        NotVisible: no such lake or table for this person.
        ExternalFailure: the metastore does not answer.
    """
    config = get_lake(lake)
    hive = TableName.parse(config.lake, table)
    with Metastore.connect(config) as metastore:
        struct = table_seen(metastore, hive, user=user)
    keys = keys_of(struct)
    key = keys[0] if keys else ""
    rules = starting_rules(_columns(struct), partition_key=key)
    return write_document(Document(table=f"{hive.db}.{hive.table}", rules=rules, partition_key=key))


def _columns(struct: Any) -> dict[str, str]:
    listed = struct.sd.cols if struct.sd else ()
    return {str(one.name): str(one.type) for one in listed or ()}
