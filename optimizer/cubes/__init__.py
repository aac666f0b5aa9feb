"""Cubes of Iceberg tables: what people define, what of a table they cover, and what they answer.

The format and the contract with engines is docs/cubes.md.
"""
