"""What engines tell of the queries that they ran: scans, and which queries cost most."""
