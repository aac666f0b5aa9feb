"""Commands of the lifecycle room."""
