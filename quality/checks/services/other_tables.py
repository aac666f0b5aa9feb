"""Which other tables rules read, and whether who set them may see those.

A result shows what a rule found there, so a rule reads nothing that its author may not see. It is
looked at when rules are set, and again before each measurement.
"""

from collections.abc import Sequence

from portal.access.models import User
from portal.connectors.metastore import Metastore
from portal.lake.errors import NotVisible, RuleViolation
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from quality.checks.domain.rules import CheckSet, Rule
from quality.checks.domain.statements import tables_of
from quality.ready_flag.services.tables import table_seen


def others_of(rule: Rule) -> tuple[str, ...]:
    """Return the tables besides its own that a rule reads, as `db.table`."""
    named = (rule.other_table,) if rule.other_table else ()
    return (*named, *(tables_of(rule.sql) if rule.sql else ()))


def databases_of(checks: CheckSet) -> tuple[str, ...]:
    """Return the databases of the other tables that rules read."""
    names = {name for one in checks.rules for name in others_of(one)}
    return tuple(sorted({name.partition(".")[0] for name in names}))


def check_others(metastore: Metastore, lake: LakeId, rules: Sequence[Rule], *, user: User) -> None:
    """Refuse rules that read tables which a person may not see.

    Raises:
        RuleViolation: `checks.other_table`; it names the rule, and says the same of a table that
            is not there.
    """
    for rule in rules:
        for name in others_of(rule):
            try:
                table_seen(metastore, TableName.parse(lake, name), user=user)
            except NotVisible as error:
                raise RuleViolation(
                    "checks.other_table",
                    f"Rule {rule.name!r} reads {name}, of which there is no table in the lake that "
                    f"{user.username} may see. Correct the name, or leave the rule out.",
                    rule=rule.name,
                ) from error
