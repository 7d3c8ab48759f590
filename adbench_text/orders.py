"""What documents are called odd by; the command line reads it without NumPy."""

#: The p of a detector of their words, of their form, or of both joined.
ORDERS = ("words", "form", "both")
