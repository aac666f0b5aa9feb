"""Services of tickets."""
