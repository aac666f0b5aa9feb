"""Settings of each database: its mode, its notice and backup days, and the dry run.

`services/modes.py` raises a mode one step at a time. The dry run shows what Monitor only would have
dropped (`selectors/dry_run.py`).
"""
