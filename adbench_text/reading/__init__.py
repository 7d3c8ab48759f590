"""Read the user's files: CSV, TSV, JSON, Parquet, spreadsheets, lines, mails, and folders of files."""
