"""Give answers for many tables by the services of single ones."""
