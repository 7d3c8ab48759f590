"""Rank documents by the p-values of an order."""

import numpy as np
import pandas as pd

from adbench_text.documents.rule import ListRule
from adbench_text.orders import P_OF_ORDER


def with_copies(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return documents with the columns ``copy_of`` and ``n_copies``; `column` has the representatives."""
    rows, representative = table["row"], table[column]
    n_copies = np.bincount(representative, minlength=len(table))[rows] - 1
    copy_of = representative.astype("Int64").where(representative != rows)
    return table.assign(copy_of=copy_of, n_copies=np.maximum(n_copies, 0))


def in_order(table: pd.DataFrame, by: str, alpha: float, rule: ListRule | None = None) -> pd.DataFrame:
    """Return documents ranked by the p of an order, with their copies in this order.

    The columns ``rank`` and ``odd`` are added. Copies have the rank of their representative. Documents
    without p have no rank and come last, sorted by their p by form. With `rule`, only the documents that it
    lists are returned; the index has their places among all documents.
    """
    p = table[P_OF_ORDER[by]]
    column = "representative" if by == "words" else "form_representative"
    table = with_copies(table, column)
    representative = table[column].to_numpy()
    # The last key counts first. Groups and languages have the same values of p, so that documents of several
    # ones tie; by words, the score on a common scale decides. A representative comes before its copies.
    keys = (
        table["row"],
        table["copy_of"].notna(),
        representative,
        -table["score"].where(p.notna() & (by == "words"), 0.0),
        table["p_form"].where(p.isna()),
        p,
    )
    places = np.lexsort(keys)
    del keys
    ranks = np.cumsum(np.diff(representative[places], prepend=-1) != 0)
    p = p.iloc[places].reset_index(drop=True)
    ranked = pd.DataFrame(
        {
            "place": places,
            "copy_of": table.pop("copy_of").array[places],
            "n_copies": table.pop("n_copies").array[places],
            "rank": pd.Series(ranks, dtype="Int64").where(p.notna()),
            "odd": p <= alpha,
        },
        copy=False,
    )
    if rule is not None:
        ranked = rule.listed(ranked)
    places = ranked.pop("place").to_numpy()
    # one column after the other: two tables of millions of documents take a gigabyte
    columns = {name: table.pop(name).array[places] for name in [*table]}
    return pd.DataFrame({**columns, **ranked}, ranked.index, copy=False)
