"""What events and scans mean for the tables of a lake. Pure."""
