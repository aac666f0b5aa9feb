"""Running Spark programs: submit, find again, kill; the spool through which portal and job talk."""
