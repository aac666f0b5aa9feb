"""The backup engine: moves, drops, restores, undoes and purges data so that nothing is ever lost.

`engine` is free of Django: jobs act by it, and services bring to rest what a job left half done.
Models, selectors and services keep the catalogue of backups, fences, probes, holds and savings, and
know nothing of plans. `jobs` holds the program that stands beside each backup, so that it can be
restored without the portal. The app label and the tables are those of `act`.
"""
