"""The demo's Hudi policies are such as the forms would take."""

import pytest

from optimizer.policies.domain.hudi_policy import contradiction, resolve
from optimizer.policies.domain.hudi_values import read_values
from optimizer.policies.domain.policy import Level
from portal.lake.names import TableName
from stack.lake.carts import POLICIES


@pytest.mark.parametrize("name", POLICIES, ids=str)
def test_the_policy_of_a_demo_table_reads_and_does_not_contradict_itself(name: TableName) -> None:
    scope = f"{name.db}.{name.table}"
    found = resolve([Level(scope, read_values(POLICIES[name]))], db=name.db, table=name.table)
    assert contradiction(found.policy) is None
