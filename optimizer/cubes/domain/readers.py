"""Names the engines whose readers report what cubes answered."""

from enum import StrEnum


class Engine(StrEnum):
    """What ran a query that was answered from a cube."""

    SPARK = "spark"
    TRINO = "trino"
