"""Finds which stored aggregates can answer an aggregate query, and why the others cannot.

Pure: a query's text and a description of what is stored go in, and a match or the first rule that
failed comes out. Cubes use it, and whatever else keeps aggregates of tables.
"""
