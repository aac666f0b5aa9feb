"""Acting on data on HDFS and a metastore on MariaDB."""

from collections.abc import Iterator

import pytest

from stack.stack import Stack
from tests.integration.lifecycle.backup.act_cases import ActCases, make_lake
from tests.support.act_lake import ActLake


class TestFull(ActCases):
    """Every case of acting, on the production form."""

    @pytest.fixture
    def lake(self, full_stack: Stack) -> Iterator[ActLake]:
        yield from make_lake(full_stack)
