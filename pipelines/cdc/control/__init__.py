"""Pipelines as people declare, watch, pause and drop them, and what their programs say."""
