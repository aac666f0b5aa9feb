"""Delete files, manifests, snapshots, orphans and their quarantine, statistics."""
