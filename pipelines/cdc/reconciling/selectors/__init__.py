"""What pages and API show of proofs and repairs."""
