"""What lifecycle does by the clock: the daily scan and the scheduled runs and ticks.

`run_kinds/scan.py` is the scan, `run_kinds/clock.py` all others. `services.py` plays a whole day
for demos and tests.
"""
