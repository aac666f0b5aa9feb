"""Upkeep of a table as a whole: snapshots, orphans, quarantine, deletes, manifests, statistics.

Each kind has its rule in `domain` and its program in `jobs`, under the same name.
"""
