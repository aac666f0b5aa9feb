"""The Spark program that compares tables with their sources."""
