"""Names the rules by which a query is compared with a stored aggregate."""

from enum import StrEnum


class Rule(StrEnum):
    """What a refusal failed on."""

    SHAPE = "shape"
    TABLES = "tables"
    JOINS = "joins"
    DIMENSION = "dimension"
    FILTER = "filter"
    MEASURE = "measure"
    TYPE = "type"
    COVERAGE = "coverage"


class Unfit(Exception):
    """Says which rule failed first, with the thing named."""

    def __init__(self, rule: Rule, reason: str) -> None:
        super().__init__(reason)
        self.rule, self.reason = rule, reason
