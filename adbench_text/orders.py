"""The lists of odd documents: by words, by form, or by both. The command line reads this without NumPy."""

from typing import Literal, get_args

#: A detector of words ranks the documents, a detector of form, or both joined.
Order = Literal["words", "form", "both"]
ORDERS: tuple[Order, ...] = get_args(Order)

#: The column that has the p-value of each order.
P_OF_ORDER: dict[str, str] = dict(zip(ORDERS, ("p", "p_form", "p_both"), strict=True))
