"""Reads Thrift structures as the metastore's events carry them: JSON with numbered fields.

A field that is not set is left out of the JSON; one of another form raises LookupError, TypeError
or ValueError.
"""

from collections.abc import Mapping
from typing import Any

Struct = Mapping[str, Any]


def struct_in(struct: Struct, field: str) -> Struct:
    """Return the structure in a field; empty where it is not set."""
    found: Struct = struct[field]["rec"] if field in struct else {}
    return found


def map_in(struct: Struct, field: str) -> Mapping[str, str]:
    """Return the map of texts in a field; empty where it is not set."""
    found: Mapping[str, str] = struct[field]["map"][3] if field in struct else {}
    return found


def text_in(struct: Struct, field: str) -> str:
    """Return the text in a field; empty where it is not set."""
    return str(struct[field]["str"]) if field in struct else ""
