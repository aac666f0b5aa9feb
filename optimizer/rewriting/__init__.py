"""Rewrites aggregate queries of any SQL engine so that cubes answer them.

The text that comes back is one statement: rows of a cube at one of its snapshots, merged with a
fresh aggregation of the data files that the cube does not cover, at one snapshot of the table. What
cannot be proven equal is left as it is, with the rule that failed. See docs/cubes.md.
"""
