"""Spark programs that advance layers."""
