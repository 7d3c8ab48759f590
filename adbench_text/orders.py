"""What documents are called odd by; the command line reads it without NumPy."""

#: The p of each order: of a detector of their words, of their form, or of both joined.
P_OF_ORDER = {"words": "p", "form": "p_form", "both": "p_both"}

ORDERS = tuple(P_OF_ORDER)
