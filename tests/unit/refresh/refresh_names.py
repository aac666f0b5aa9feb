"""Made-up clusters, tables and front ends for the tests of cache refresh, and odd texts."""

from collections.abc import Iterable

from hypothesis import strategies as st

from portal.lake.ids import LakeId
from portal.lake.names import TableName
from refresh.changes.domain.changes import PartitionChange, heard
from refresh.clusters.domain.frontends import FrontEnd
from refresh.core.domain.names import ClusterId, ExternalTable
from refresh.core.domain.versions import Version

LAKE = LakeId("main")
BI = ClusterId("bi")
SALES = TableName(LAKE, "shop", "sales")
IN_CATALOG = ExternalTable(BI, "hive", "shop", "sales")
ON_RESOURCE = ExternalTable(BI, "", "ext", "sales_in_sr")

# Whatever a partition value can hold once the metastore has written it, quotes and slashes too.
odd_texts = st.text(
    st.one_of(st.sampled_from("'\"\\`%=/.,;() \n-"), st.characters(codec="utf-8")),
    max_size=20,
)
writable_texts = odd_texts.filter(lambda text: text.isprintable())


def front_end(
    name: str, *, host: str = "", alive: bool = True, error: str = "", start: str = "2026-11-01"
) -> FrontEnd:
    """Make a front end; its host is its name unless told."""
    return FrontEnd(
        name=name,
        host=host or name,
        query_port=9030,
        is_alive=alive,
        is_leader=False,
        error=error,
        start=start,
        version=Version.read("3.5.2"),
    )


def noted(events: Iterable[tuple[str, str]]) -> dict[str, PartitionChange]:
    """Note (kind, partition) in whatever order they came in, as the rows do."""
    found: dict[str, PartitionChange] = {}
    for kind, partition in events:
        for name, touch in heard(kind, [partition])[1].items():
            found[name] = touch if found.get(name, touch) is touch else PartitionChange.UPDATED
    return found
