"""Fits what the metastore says of a table into the catalog's columns."""

from dataclasses import replace

from portal.catalog.domain.entries import TableFacts
from portal.catalog.models import FORMAT_CHARS, OWNER_CHARS
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import RuleViolation
from portal.lake.lines import fitted


def fitted_facts(facts: TableFacts, config: LakeConfig) -> TableFacts:
    """Return the facts with a location spelled as everywhere in the portal, and no text too long.

    A location that cannot be read as a path stays as it is.
    """
    try:
        location = str(config.path(facts.location)) if facts.location else ""
    except RuleViolation:
        location = facts.location
    return replace(
        facts,
        format=fitted(facts.format, FORMAT_CHARS),
        location=location,
        owner=fitted(facts.owner, OWNER_CHARS),
    )
