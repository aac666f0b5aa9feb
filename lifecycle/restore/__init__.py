"""Backups for people: contents, restore, undo of a restore, probes, purge, and savings.

`services/backups.py` previews and starts a restore, `services/undo.py` reverts one, and
`services/purges.py` decides when a backup is purged. The Spark programs in `jobs` drive the engine
in `lifecycle/backup/engine`.
"""
