"""The backup engine: moves, drops, restores, undoes and purges data so that no data is lost.

`engine` acts in Spark drivers and is free of Django: `engine/drop.py`, `engine/restore`,
`engine/undo`, `engine/move` and `engine/purge` write an intent before each batch and a result after
it. `engine/settle` finishes or reverts what a run left half done, for example after a crash or a
lost answer of the NameNode. The answer itself is judged in `portal/connectors/file_status.py`.

Models, selectors and services keep the catalogue of backups, fences, probes, holds and savings, and
know nothing of plans. `jobs` holds the program that is stored with each backup, so that it can be
restored without the portal. The app label and the tables are those of `act`.
"""
