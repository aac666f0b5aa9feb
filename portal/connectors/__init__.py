"""Connectors: one outside system each, always with time-outs, its errors translated.

Nothing here decides, retries or knows Django; jobs, workers and tests share it.
"""
