"""The figures of a report, one file each: what of the results they show."""
