"""Judges topics of Kafka before they are a changelog, or become tables."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pipelines.cdc.applying.domain.messages import Column
from pipelines.cdc.applying.domain.topics import KEY
from pipelines.cdc.capture.domain.findings import Finding, Level

LARGEST_RECORD = 8 << 20
"""Bytes that a row before and after a change may well have, as JSON."""
_DAY_MS = 86_400_000
_WIDER = {
    frozenset({"boolean"}): "boolean",
    frozenset({"bigint"}): "bigint",
    frozenset({"double"}): "double",
    frozenset({"bigint", "double"}): "double",
}


def judge_changelog(
    topic: str, facts: Mapping[str, Mapping[str, str]], *, days: int
) -> Iterator[Finding]:
    """Yield what is good and what is missing; `facts` are the settings of topics that are there.

    Topics that are not there are made by the capture, without an end of their retention.
    """
    if topic not in facts:
        yield Finding("kafka.topic", Level.OK, f"Topic {topic} is made when the capture begins.")
    for name, settings in facts.items():
        yield from _judge(name, settings, is_changes=name == topic, days=days)


def judge_topics(
    facts: Mapping[str, Mapping[str, str]], *, patterns: Sequence[str], days: int
) -> Iterator[Finding]:
    """Yield what is good and what is missing of topics that are to become tables."""
    if not facts:
        text = f"No topic is called {', '.join(patterns)}."
        remedy = "Create the topic, or grant the user DESCRIBE and READ on it."
        yield Finding("kafka.no_topic", Level.ERROR, text, remedy)
    for name, settings in facts.items():
        yield Finding("kafka.topic", Level.OK, f"Topic {name} is there.")
        keeps = int(settings.get("retention.ms", "-1"))
        if 0 <= keeps < days * _DAY_MS:
            text = (
                f"Topic {name} keeps records for {keeps / _DAY_MS:.1f} days: a longer stop loses "
                "some, and a table that is restored gets no older ones again."
            )
            remedy = f"Set its retention.ms to {days * _DAY_MS} or more."
            yield Finding("kafka.retention", Level.WARNING, text, remedy)
        if "compact" in settings.get("cleanup.policy", ""):
            text = f"Topic {name} is compacted: of each key only the last record is sure to come."
            yield Finding("kafka.compacted", Level.WARNING, text, "Set cleanup.policy to delete.")


def inferred(values: Iterable[bytes]) -> tuple[Column, ...]:
    """Return columns that hold the fields of some JSON objects; in doubt they are text."""
    kinds: dict[str, set[str]] = {}
    for value in values:
        try:
            found = json.loads(value)
        except ValueError:
            continue
        if isinstance(found, dict):
            for name, one in found.items():
                kinds.setdefault(name, set()).update(() if one is None else (_kind(one),))
    return tuple(
        Column(name, _WIDER.get(frozenset(said), "string"))
        for name, said in kinds.items()
        if name not in KEY
    )


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    return {int: "bigint", float: "double"}.get(type(value), "string")


def _judge(
    name: str, settings: Mapping[str, str], *, is_changes: bool, days: int
) -> Iterator[Finding]:
    if not settings:
        text = f"The settings of topic {name} may not be read."
        yield Finding("kafka.settings", Level.WARNING, text, "Grant DESCRIBE_CONFIGS on it.")
        return
    if "compact" in settings.get("cleanup.policy", ""):
        text = f"Topic {name} is compacted: records would be lost."
        yield Finding("kafka.compacted", Level.ERROR, text, "Set its cleanup.policy to delete.")
    keeps = int(settings.get("retention.ms", "-1"))
    # What says where to go on, and what rows look like, is needed for ever.
    needed = days * _DAY_MS if is_changes else None
    if keeps >= 0 and (needed is None or keeps < needed):
        wanted = "-1" if needed is None else str(needed)
        level = Level.WARNING if is_changes else Level.ERROR
        text = f"Topic {name} keeps records for {keeps / _DAY_MS:.1f} days only."
        yield Finding("kafka.retention", level, text, f"Set its retention.ms to {wanted}.")
    if int(settings.get("retention.bytes", "-1")) >= 0:
        text = f"Topic {name} drops records by its size."
        yield Finding("kafka.size", Level.WARNING, text, "Set its retention.bytes to -1.")
    most = int(settings.get("max.message.bytes", "0"))
    if most < LARGEST_RECORD:
        text = f"Topic {name} takes records of {most:,} bytes at most; large rows need more."
        remedy = f"Set its max.message.bytes to {LARGEST_RECORD} or more."
        yield Finding("kafka.record_size", Level.WARNING, text, remedy)
    else:
        yield Finding("kafka.topic", Level.OK, f"Topic {name} is there.")
