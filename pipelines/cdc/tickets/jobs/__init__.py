"""The Spark program of the dry run of a ticket."""
