"""The servers that the tests with Kerberos share: a KDC, HDFS, MariaDB and a metastore."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from portal.connectors.kerberos.settings import CONFIGURATION
from stack.kdc_assets import fetch_kdc
from stack.kerberized_stack import KerberizedStack

# After this a delegation token must be renewed, and after twice that it is over: programs that run
# longer need new ones.
TOKEN_SECONDS = 45
LONG_WRITER = Path(__file__).with_name("long_writer.py")


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KerberizedStack]:
    """A running lake of a secured cluster."""
    fetch_kdc()
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(CONFIGURATION, raising=False)
        var = tmp_path_factory.mktemp("secured")
        with KerberizedStack.secured(var, token_seconds=TOKEN_SECONDS) as stack:
            yield stack
