"""What a real Trino tells of its queries."""
