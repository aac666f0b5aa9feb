"""Spark programs of the optimizer: started by the platform's runs, imported by nobody."""
