"""Defines how the policies of one table format differ from those of another.

Scopes, levels, versions and who may set them are the same for all; the settings, how they are
written and what contradicts itself are each format's own.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Protocol

from optimizer.policies.domain import hudi_policy, hudi_values, policy, values, words
from optimizer.policies.domain.policy import BUILT_IN, Level, names_in
from portal.lake.errors import RuleViolation


class TableFormat(StrEnum):
    """Of which format the tables are that a policy is about."""

    ICEBERG = "iceberg"
    HUDI = "hudi"


class AnyResolved(Protocol):
    """The policy of one table of any format, and for each field the scope that says so."""

    @property
    def policy(self) -> Any:
        """The policy."""

    @property
    def sources(self) -> Mapping[str, str]:
        """Who says each field."""


@dataclass(frozen=True, slots=True)
class PolicySchema:
    """What policies of one format are made of; settings stand in the order in which they show."""

    title: str
    fields: tuple[str, ...]
    settings: Mapping[str, tuple[str, str]]
    read: Callable[[Mapping[str, object]], dict[str, object]]
    write: Callable[[Any], dict[str, object]]
    typed: Callable[[str, str], object]
    resolve: Callable[..., AnyResolved]
    contradiction: Callable[[Any], RuleViolation | None]

    def resolve_scope(self, levels: Iterable[Level], scope: str) -> AnyResolved:
        """Put levels together as they would be for a table that a scope just fits."""
        db, table = names_in(scope)
        return self.resolve(levels, db=db, table=table)


POLICY_SCHEMAS: Mapping[TableFormat, PolicySchema] = MappingProxyType(
    {
        TableFormat.ICEBERG: PolicySchema(
            "Iceberg",
            policy.FIELDS,
            words.SETTINGS,
            values.read_values,
            values.write_policy,
            words.typed,
            policy.resolve,
            policy.contradiction,
        ),
        TableFormat.HUDI: PolicySchema(
            "Hudi",
            hudi_policy.FIELDS,
            hudi_values.SETTINGS,
            hudi_values.read_values,
            hudi_values.write_policy,
            hudi_values.typed,
            hudi_policy.resolve,
            hudi_policy.contradiction,
        ),
    }
)


def is_built_in(source: str) -> bool:
    """Whether nobody set a field: it comes with the release, of Hudi's for a kind of table."""
    return source.startswith(BUILT_IN)
