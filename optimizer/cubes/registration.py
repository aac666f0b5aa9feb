"""Registers `optimizer.cubes` with the platform."""

from optimizer.cubes.run_kinds import register_cube_kinds
from optimizer.cubes.ui.badges import register_cube_badges
from optimizer.cubes.ui.cubes import register_cube_pages
from optimizer.cubes.ui.table_tab import register_cubes_tab


def register() -> None:
    """Add what this capability offers: its runs, pages, the tab of a table."""
    register_cube_kinds()
    register_cube_badges()
    register_cube_pages()
    register_cubes_tab()
