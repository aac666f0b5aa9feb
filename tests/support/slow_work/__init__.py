"""A Django app that only tests load: one slow kind of run, to kill workers in the middle of."""
