"""Reads and writes check sets as YAML documents."""

import re
from typing import Any

import msgspec
import yaml

from portal.lake.errors import RuleViolation
from quality.checks.domain.rules import CheckSet, complete

LARGEST_DOCUMENT = 256 * 1024
_PLACE = re.compile(r"`\$\.rules\[(\d+)\]\.?(.*)`\Z")


class _Loader(yaml.SafeLoader):
    """Plain values: dates stay texts, only true and false are booleans, no key comes twice."""

    yaml_implicit_resolvers = {
        first: [
            (tag, pattern)
            for tag, pattern in ones
            if not tag.endswith((":timestamp", ":bool", ":merge"))
        ]
        for first, ones in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002  (PyYAML's own signature)
        """Refuse a key that comes twice; YAML would silently take the last."""
        names = [one.value for one, _ in node.value]
        for number, name in enumerate(names):
            if name in names[:number]:
                raise yaml.constructor.ConstructorError(
                    None, None, f"{name!r} comes twice", node.value[number][0].start_mark
                )
        return super().construct_mapping(node, deep=deep)


_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"(true|false)\Z"), list("tf"))


def read_document(text: str) -> CheckSet:
    """Read a check set, and name rules that have no name.

    Raises:
        RuleViolation: `checks.document` or `checks.rule`, naming rule, field and what to do.
    """
    data = load_yaml(text)
    if not isinstance(data, dict):
        raise RuleViolation(
            "checks.document", "The document is no mapping; it starts with `table:` and `rules:`."
        )
    return read_parsed(data)


def read_parsed(data: Any) -> CheckSet:
    """Read a check set from parsed JSON or YAML.

    Raises:
        RuleViolation: As `read_document`.
    """
    try:
        found = msgspec.convert(data, CheckSet)
    except msgspec.ValidationError as error:
        raise _unreadable(data, str(error)) from error
    return complete(found)


def write_document(checks: CheckSet) -> str:
    """Return a check set as a document that reads back equal."""
    return yaml.safe_dump(
        to_parsed(checks), sort_keys=False, allow_unicode=True, width=100, default_flow_style=False
    )


def to_parsed(checks: CheckSet) -> dict[str, Any]:
    """Return a check set as JSON values, as it is stored; defaults are left out."""
    data = msgspec.to_builtins(checks)
    if not isinstance(data, dict):
        raise TypeError(type(data))
    order = ("table", "partition_key", "samples", "rules")
    return {name: data[name] for name in order if name in data}


def load_yaml(text: str) -> Any:
    """Parse YAML of plain values.

    Raises:
        RuleViolation: `checks.document`.
    """
    if len(text.encode()) > LARGEST_DOCUMENT:
        raise RuleViolation("checks.document", "The document is larger than 256 KiB; split it.")
    try:
        if any(isinstance(one, yaml.AliasToken) for one in yaml.scan(text)):
            raise RuleViolation(
                "checks.document", "The document has an alias (*name); write the values out."
            )
        return yaml.load(text, Loader=_Loader)  # noqa: S506  (a SafeLoader with fewer types)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it cannot be parsed"
        raise RuleViolation(
            "checks.document", f"The document is no YAML{place}: {problem}."
        ) from error


def _unreadable(data: Any, message: str) -> RuleViolation:
    problem, _, place = message.partition(" - at ")
    match = _PLACE.match(place)
    if match is None:
        field = place.strip("`").removeprefix("$").removeprefix(".")
        where = f"{field}: " if field else ""
        return RuleViolation("checks.document", f"{where}{problem}.", rule="", field=field)
    number, field = int(match.group(1)), match.group(2)
    rule = _name(data, number)
    where = f"Rule {rule!r}" + (f", {field}" if field else "")
    return RuleViolation("checks.document", f"{where}: {problem}.", rule=rule, field=field)


def _name(data: Any, number: int) -> str:
    one = data["rules"][number]
    name = one.get("name") or one.get("metric") if isinstance(one, dict) else None
    return str(name) if name else f"number {number + 1}"
