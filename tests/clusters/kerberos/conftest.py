"""The servers that the tests with Kerberos share: a KDC, HDFS, MariaDB and a metastore."""

from collections.abc import Iterator

import pytest

from portal.connectors.kerberos.settings import CONFIGURATION
from stack.kdc_assets import fetch_kdc
from stack.kerberized_stack import KerberizedStack

# Tickets and tokens end while the longer tests run. A token lives four times as long as it goes
# unrenewed; Kerberos allows clocks to differ by five minutes, so a ticket of less is not refused.
TOKEN_SECONDS = 60


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KerberizedStack]:
    """A running lake of a secured cluster."""
    fetch_kdc()
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(CONFIGURATION, raising=False)
        var = tmp_path_factory.mktemp("secured")
        with KerberizedStack.secured(var, token_seconds=TOKEN_SECONDS) as stack:
            yield stack
