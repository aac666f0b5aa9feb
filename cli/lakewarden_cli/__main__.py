"""Runs the command line as `python -m lakewarden_cli`."""

from lakewarden_cli.main import main

main()
