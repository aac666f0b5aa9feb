"""The process that refreshes: it plans, chooses, sends and takes in the results.

`services/worker.py` turns the others: `planning`, `domain/scheduling.py`, `sending`, `results`.
"""
