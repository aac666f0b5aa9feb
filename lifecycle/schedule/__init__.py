"""What lifecycle does by the clock."""
