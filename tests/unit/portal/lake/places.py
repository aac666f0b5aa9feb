"""Strategies for paths that collide, nest and sort badly on purpose."""

from hypothesis import strategies as st

from portal.lake.paths import LakePath

# "-" and "." sort before "/", "0" and "_" after it: where sorting by text goes wrong, it shows.
SEGMENTS = ("a", "a-", "a.b", "a0", "a_", "é", "a b")


def paths(max_depth: int = 4) -> st.SearchStrategy[LakePath]:
    """Return paths of few segments on two file systems, so that many are equal or nested."""
    return st.builds(
        lambda fs, names: LakePath(fs[0], fs[1], "/" + "/".join(names)),
        st.sampled_from([("file", ""), ("hdfs", "nn1")]),
        st.lists(st.sampled_from(SEGMENTS), max_size=max_depth),
    )
