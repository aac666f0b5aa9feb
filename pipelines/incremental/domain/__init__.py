"""What layers are and what may be done with them, decided from plain values."""
