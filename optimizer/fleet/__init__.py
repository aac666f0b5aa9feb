"""The scans of a whole lake: bytes read and left out a day, times of queries, what advice saved."""
