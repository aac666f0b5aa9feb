"""Requests and cancels runs, drives one to its end, and answers what it waits for."""
