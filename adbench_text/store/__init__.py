"""The MLflow store."""
