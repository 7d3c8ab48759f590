"""Corpora and their one-vs-rest splits."""
