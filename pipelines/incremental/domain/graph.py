"""The graph of layers: its order, its cycles, and how far its tables are.

A layer stands for its target, so a table is a node and each source an edge into it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from portal.lake.errors import RuleViolation

Sources = Mapping[str, Sequence[str]]
"""Target of each layer -> the tables that it reads."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Up to which moment a table has everything, or why nobody can say."""

    at: datetime | None
    reason: str = ""


def check_graph(layers: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Refuse two layers of one target, and layers that read in a circle.

    Raises:
        RuleViolation: `layer.target`, `layer.cycle`.
    """
    graph: dict[str, Sequence[str]] = {}
    for target, sources in layers:
        if target in graph:
            raise RuleViolation(
                "layer.target",
                f"{target} is the target of another layer. A table is written by one; change that "
                "one, or choose another target.",
                field="target",
            )
        graph[target] = sources
    path = find_cycle(graph)
    if path:
        raise RuleViolation(
            "layer.cycle",
            f"The layers read in a circle: {' -> '.join(path)}. Leave one of these sources out.",
            field="sources",
            path=list(path),
        )


def find_cycle(graph: Sources) -> tuple[str, ...]:
    """Return the tables of a circle in the direction of the data, the first again as the last."""
    done: set[str] = set()
    for start in sorted(graph):
        trail: list[str] = []
        stack = [(start, iter(_above(graph, start)))]
        on_trail = {start}
        trail.append(start)
        while stack and start not in done:
            node, left = stack[-1]
            following = next(left, None)
            if following is None:
                stack.pop()
                trail.pop()
                on_trail.discard(node)
                done.add(node)
            elif following in on_trail:
                circle = [*trail[trail.index(following) :], following]
                return tuple(reversed(circle))
            elif following not in done:
                stack.append((following, iter(_above(graph, following))))
                trail.append(following)
                on_trail.add(following)
    return ()


def run_order(graph: Sources) -> tuple[str, ...]:
    """Return the targets, each after those that it reads; alphabetical where that is free.

    Raises:
        RuleViolation: `layer.cycle`.
    """
    check_graph(graph.items())
    depths: dict[str, int] = {}

    def depth(target: str) -> int:
        if target not in depths:
            depths[target] = 1 + max((depth(one) for one in _above(graph, target)), default=0)
        return depths[target]

    return tuple(sorted(graph, key=lambda target: (depth(target), target)))


def below(graph: Sources, table: str) -> frozenset[str]:
    """Return the targets that are made of a table, directly or by other layers."""
    found: set[str] = set()
    following = [table]
    while following:
        one = following.pop()
        new = {target for target, sources in graph.items() if one in sources} - found
        found |= new
        following.extend(new)
    return frozenset(found)


def chain_of(graph: Sources, table: str) -> tuple[str, ...]:
    """Return the targets that a table's chain has: it, all that it is made of, in order."""
    found = {table} & graph.keys()
    following = list(found)
    while following:
        new = set(_above(graph, following.pop())) - found
        found |= new
        following.extend(new)
    return run_order({one: graph[one] for one in found})


def least(marks: Mapping[str, Mark]) -> Mark:
    """Return how far a target is: as far as the upstream that is least far.

    One of which nobody knows makes that the answer, and says so.
    """
    unknown = [f"{name}: {marks[name].reason}" for name in sorted(marks) if not marks[name].at]
    if unknown:
        return Mark(None, unknown[0])
    known = [one.at for one in marks.values() if one.at is not None]
    return Mark(min(known)) if known else Mark(None, "it has no upstream")


def is_passed(mark: Mark, end: datetime) -> bool:
    """Return whether everything before `end` is there: a partition that ends then is complete."""
    return mark.at is not None and mark.at >= end


def _above(graph: Sources, target: str) -> list[str]:
    return sorted(one for one in graph.get(target, ()) if one in graph)
