"""A user's own documents: read from files, ranked against each other, scored by a model."""

#: The detector of the commands for own documents, and of `odd_documents`.
DEFAULT_DETECTOR = "mean"

#: Different documents that a detector learns from, unless asked for more.
SAMPLE = 20_000
