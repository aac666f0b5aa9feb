"""The picture of the lineage has each table once, and data flows from left to right."""

from hypothesis import given
from hypothesis import strategies as st

from pipelines.incremental.domain.graph import find_cycle
from pipelines.incremental.domain.lineage import HEIGHT, WIDTH, Flow, lineage

NAMES = [f"db.a_table_with_a_long_name_{n}" for n in range(7)]
FLOWS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=9, unique=True)


@given(FLOWS)
def test_tables_do_not_overlap_and_lines_go_to_the_right(pairs: list[tuple[str, str]]) -> None:
    graph: dict[str, list[str]] = {}
    for source, target in pairs:
        graph.setdefault(target, []).append(source)
    if find_cycle(graph):
        return
    found = lineage([Flow(source, target, "3 min") for source, target in pairs])
    assert sorted(one.name for one in found.tables) == sorted({one for two in pairs for one in two})
    for one in found.tables:
        assert 0 < one.x <= found.width - WIDTH
        assert 0 < one.y <= found.height - HEIGHT
        assert one.is_target is (one.name in graph)
        for other in found.tables:
            if other != one and other.x == one.x:
                assert abs(other.y - one.y) > HEIGHT
    assert len(found.lines) == len(pairs)
    for line in found.lines:
        assert line.x1 < line.x2
        assert line.x1 < line.middle[0] < line.x2


def test_an_empty_graph_is_an_empty_picture() -> None:
    assert lineage([]).tables == ()


def test_a_table_that_nothing_is_made_into_stands_just_before_what_is_made_of_it() -> None:
    flows = [Flow("orders", "clean", ""), Flow("clean", "wide", ""), Flow("shops", "wide", "")]
    found = {one.name: one.x for one in lineage(flows).tables}
    assert found["shops"] == found["clean"]
    assert found["orders"] < found["clean"] < found["wide"]
