"""What a difference between source and lake is, and what the program is asked and says."""
