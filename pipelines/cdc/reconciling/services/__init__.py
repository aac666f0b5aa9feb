"""Proofs, repairs and plans as people ask for them."""
