"""Checks for changes that nobody reported: files of hot tables, and probes of front ends.

`services/sweeping.py` runs the checks, `domain/probing.py` compares a front end's answer with the
metastore.
"""
