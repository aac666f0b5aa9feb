"""The loop of a capture: from the source's events to the changelog's batches."""
