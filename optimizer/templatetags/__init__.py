"""Filters of the room's templates."""
