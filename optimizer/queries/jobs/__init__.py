"""Spark programs that write and read the lake's table of recorded queries."""
