"""A user's own documents: read from files, ranked against each other, scored by a model."""
