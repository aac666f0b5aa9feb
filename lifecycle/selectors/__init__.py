"""Reads of the lifecycle room: what a person may see, in keyset pages."""
