"""Fetches what the opt-in tier of real clusters runs; each part of it once."""

from collections.abc import Callable, Sequence

from stack.assets import compile_java


def compile_ha_hdfs() -> bool:
    """Compile the processes of a highly available HDFS."""
    return compile_java("HaHdfs", jars="hdfs", target="ha-hdfs")


PARTS: Sequence[Callable[[], bool]] = (compile_ha_hdfs,)
"""What is fetched; each says False where it was there already, and raises StackError."""


def fetch_clusters() -> bool:
    """Fetch every part; False if all were there already.

    Raises:
        StackError: a part could not be fetched; it says which and why.
    """
    fetched = [fetch() for fetch in PARTS]
    return any(fetched)
