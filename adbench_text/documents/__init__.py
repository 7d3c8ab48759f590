"""A user's own documents: read from files, ranked against each other, scored by a model."""

#: The detector of the commands for own documents, and of `odd_documents`.
DEFAULT_DETECTOR = "mean"

#: What documents are called odd by: a detector of their words, their form, or both p-values joined.
ORDERS = ("words", "form", "both")
