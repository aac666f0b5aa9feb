"""What engines tell of the queries that they ran: the tables they scanned, and the filters."""
