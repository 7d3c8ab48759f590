"""The figures of a report, drawn from plain data."""
