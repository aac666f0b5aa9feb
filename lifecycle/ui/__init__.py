"""Pages of the lifecycle room."""
