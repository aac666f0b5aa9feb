"""What the capabilities of lifecycle share: modes, caps, notice days, list filters and people.

`domain/enrollment.py` decides whether a table takes part at all, `domain/modes.py` what the portal
may do in a database, and `domain/caps.py` how much one plan may drop.
"""
