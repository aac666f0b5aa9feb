"""Tests of several lakes with servers of their own."""
