"""Brings to rest what a run left half done, item by item."""
