"""Reads and describes the files that stand beside the data: intents, dones, manifests."""
