"""Hudi tables: inspection, health, and table services beside the tables' own writers.

In this order: `tables` records tables, `inspect` reads timelines and file slices, `planner` decides
on services, `maintenance/jobs/run_services.py` executes them, and `continuous` keeps one run with
near-real-time tables. `pages` has the pages and the API.
"""
