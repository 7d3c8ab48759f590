"""Read the user's files: CSV, TSV, JSON, Parquet, lines, mails, and folders of files."""
