"""What pages, the API and the monitoring server read of the optimizer room."""
