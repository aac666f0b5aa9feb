"""Acting on data on local files and a metastore on Derby."""

from collections.abc import Iterator

import pytest

from stack.stack import Stack
from tests.integration.lifecycle.backup.act_cases import ActCases, make_lake
from tests.support.act_lake import ActLake


class TestEmbedded(ActCases):
    """Every case of acting, on the embedded form."""

    @pytest.fixture
    def lake(self, embedded_stack: Stack) -> Iterator[ActLake]:
        yield from make_lake(embedded_stack)
