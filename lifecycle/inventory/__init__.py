"""What lies in the lake: the scan, its findings, lists and tables, and why an item is due."""
