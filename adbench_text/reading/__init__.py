"""Reads the files of a user: CSV, TSV, JSON, Parquet, lines, mails and folders of them."""
