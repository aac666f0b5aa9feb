"""The catalogue of protections, and the rules of where each may be used."""
