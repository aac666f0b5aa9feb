"""Fetches what the tests of real clusters run; each part of it once."""

from collections.abc import Callable, Sequence
from functools import partial

from stack.assets import compile_java, fetch_jars
from stack.deploy_assets import fetch_deploy_programs
from stack.kdc_assets import fetch_kdc
from stack.promtool import fetch_promtool


def compile_ha_hdfs() -> bool:
    """Compile the processes of a highly available HDFS."""
    return compile_java("HaHdfs", jars="hdfs", target="ha-hdfs")


QUICK_PARTS: Sequence[Callable[[], bool]] = (
    fetch_kdc,
    fetch_promtool,
    compile_ha_hdfs,
    fetch_deploy_programs,
)
"""What the ordinary tests of clusters run."""
PARTS: Sequence[Callable[[], bool]] = (*QUICK_PARTS, partial(fetch_jars, "yarn"))
"""What is fetched; each says False where it was there already, and raises StackError.

Kubernetes is not among it: its tests alone wait until it is built (`stack/gate.py`).
"""


def fetch_clusters() -> bool:
    """Fetch every part; False if all were there already.

    Raises:
        StackError: a part could not be fetched; it says which and why.
    """
    return _fetched(PARTS)


def fetch_quick_clusters() -> bool:
    """Fetch what the quick ones of these tests run; False if all was there already.

    Raises:
        StackError: a part could not be fetched; it says which and why.
    """
    return _fetched(QUICK_PARTS)


def _fetched(parts: Sequence[Callable[[], bool]]) -> bool:
    fetched = [fetch() for fetch in parts]  # each of them, whatever the others say
    return any(fetched)
