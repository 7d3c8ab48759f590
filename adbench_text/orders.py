"""What documents are called odd by; the command line reads it without NumPy."""

from typing import Literal, get_args

#: By a detector of their words, of their form, or by both joined.
Order = Literal["words", "form", "both"]
ORDERS: tuple[Order, ...] = get_args(Order)

#: The column of the p of each order.
P_OF_ORDER: dict[str, str] = dict(zip(ORDERS, ("p", "p_form", "p_both"), strict=True))
