"""Sentences of odd about a ranking: counts, families of near-copies, notes."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from adbench_text.cli.own_text import few_notes, forgotten_language, found_languages, second_language
from adbench_text.documents.rounding import rounded
from adbench_text.errors import listing
from adbench_text.escaping import count, one_line
from adbench_text.orders import P_OF_ORDER

if TYPE_CHECKING:
    from adbench_text.cli.file_rows import FileRows
    from adbench_text.documents.groups import Groups
    from adbench_text.documents.misfiled import Misfiled
    from adbench_text.documents.ranking import OddDocuments

_N_CONTRADICTIONS = 3  # texts in several groups to name
_LONGEST = 40  # characters of a group to show
_FEW_ODD = 5  # if alpha times the number of documents is smaller, a larger alpha is named
_MORE = 5  # the larger alpha, as a multiple of alpha
_LEAST_FAMILY = 3  # fewest documents of a family to name


def summary(ranked: "OddDocuments", seconds: float) -> list[str]:
    """Return lines with the counts of documents, and the effect of marks."""
    effect = [_effect(ranked)] if len(ranked.marked) else []
    return [_counts(ranked, seconds), *effect]


def _counts(ranked: "OddDocuments", seconds: float) -> str:
    """Return the line with the counts of documents, the detector and the time."""
    documents = ranked.table
    n_different = (documents["copy_of"].isna() & documents["p"].notna()).sum()
    is_wordless, is_ranked = documents["score"].isna(), documents["rank"].notna()
    # form also ranks documents without words, such as lines of digits; then only empty ones have no rank
    is_by_words = "words" in ranked.lists and not (is_wordless & is_ranked).any()
    left_out = f"{(is_wordless & ~is_ranked).sum():,} {'without words' if is_by_words else 'empty'}"
    method = {"leave-one-out": "each left out of its own counts"}.get(ranked.method, ranked.method)
    learned = f"; learned from {ranked.n_learned:,} of them" if ranked.n_learned < n_different else ""
    same = f", {ranked.n_same_words:,} with the same words" if ranked.n_same_words else ""
    near = f", {count(ranked.n_near_copies, 'near-copy', 'near-copies')}" if ranked.n_near_copies else ""
    return (
        f"{len(documents):,} documents, {count(ranked.n_duplicates, 'duplicate')}{same}{near}, "
        f"{left_out}; {ranked.detector}, {method}{learned}; {seconds:.1f} s"
    )


def _effect(ranked: "OddDocuments") -> str:
    """Return how many marks were used, and how they changed the weight of form."""
    is_odd, weight = ranked.marked == "odd", f"{ranked.form_weight:.2g}"
    change = "" if weight == "1" else f"; form has {weight} of its weight without marks"
    return f"Marks: {is_odd.sum():,} odd, {(~is_odd).sum():,} fine{change}."


def families(ranked: "OddDocuments", rows: "FileRows") -> list[str]:
    """Return lines about the largest families of near-copies."""
    named: Iterator[Any] = ranked.families[ranked.families["n_copies"] + 1 >= _LEAST_FAMILY].itertuples()
    return [
        one_line(
            f"Near-copies: {family.n_copies + 1:,} documents like {rows.id_name} {rows.id(family.row):.60}: "
            f"{family.text:.60}"
        )
        for family in named
    ]


def groups(ranked: "OddDocuments", rows: "FileRows") -> list[str]:
    """Return lines on the groups: how many, which are ranked together, which texts are in several groups."""
    from adbench_text.documents.groups import LEAST  # not above: it needs scikit-learn

    if ranked.groups is None:
        return []
    of_documents = ranked.groups.groups
    names, small = of_documents.names, of_documents.small
    n_small = int((of_documents.of_rows == len(names)).sum())  # all small groups have this number
    rest = (
        f" with at least {LEAST} different documents; the rest is ranked as one group: "
        f"{count(n_small, 'document')} ({listing(map(_named, small), 3)})"
        if small
        else ""
    )
    lines = [f"{count(len(names), 'group')}{rest}. {_better(ranked.groups.misfiled)}"]
    several = ranked.groups.contradictions
    if len(several):
        largest: Iterator[Any] = several.head(_N_CONTRADICTIONS).itertuples()
        named = "; ".join(
            f"{rows.id_name} {rows.id(family.row):.60} "
            f"({family.n:,} in {listing(map(_named, family.groups), 3)})"
            for family in largest
        )
        n_families = count(len(several), "family", "families")
        lines.append(f"{n_families} of equal texts or near-copies in several groups: {named}.")
    return [*map(one_line, lines)]


def _better(misfiled: "Misfiled") -> str:
    """Return how many documents fit another group better, and how many would with random labels."""
    if not misfiled.n_compared:
        return "Two groups with enough documents are needed to find documents that fit another group better."
    hint = " The column misfit orders them." if misfiled.n_better else ""
    return (
        f"{misfiled.n_better:,} of {misfiled.n_compared:,} different documents fit another group better by "
        f"their words (random labels: about {misfiled.n_by_chance:,}).{hint}"
    )


def _named(group: str) -> str:
    """Return the name of a group as it is shown; documents without a label are a group, too."""
    return f"{group:.{_LONGEST}}" or "no group"


def printed(ranked: "OddDocuments") -> list[str]:
    """Return the orders whose lists are printed. The page has all lists."""
    return ["both"] if "both" in ranked.lists else [*ranked.lists]


def heading(ranked: "OddDocuments", order: str) -> str:
    """Return the heading of a list; empty if there is only one list."""
    by = _by(ranked, order)
    return f"Odd{by}" if by else ""


def _by(ranked: "OddDocuments", order: str) -> str:
    """Return the words that name an order in a sentence; empty if there is only one list."""
    return f" by {order}" if len(ranked.lists) > 1 else ""


def languages(ranked: "OddDocuments") -> list[str]:
    """Return notes on the detected languages, and on how their documents are ranked."""
    return found_languages(ranked.languages, ranked.in_languages, notes_small=True)


def called_odd(ranked: "OddDocuments", kind: str, orders: Sequence[str]) -> list[str]:
    """Return how many documents each order calls odd, and what p means.

    `kind` is the plural noun for the documents that p counts, such as "documents without a mark".
    """
    compared = kind
    if ranked.groups:
        compared = f"{kind} of its group"
        if "form" in ranked.lists:  # the detector of form learns from all groups
            compared += f" (by form: of the {'language' if ranked.in_languages else 'file'})"
    elif ranked.in_languages:
        compared = f"{kind} of its language"
    # "the different documents of its group (by form: of the file) that score at least as high"
    of_p = f"p is the share of the different {compared} that score at least as high."
    orders_of: dict[str, list[str]] = {}  # orders with the same sentence share a line
    for order in orders:
        orders_of.setdefault(_sentence_on_odd(ranked, order), []).append(_by(ranked, order))
    return [*(f"Called odd{','.join(named)}: {counted}" for counted, named in orders_of.items()), of_p]


def _sentence_on_odd(ranked: "OddDocuments", order: str) -> str:
    """Return how many documents are odd by an order, and how many copies they have.

    If alpha is small for this number of documents, the sentence also says how many a larger alpha calls odd:
    "1 of 158 different documents and 2 copies of them, those with p of at most 0.01 (--alpha; 0.05 calls 7
    odd)."
    """
    p, is_copy = ranked.table[P_OF_ORDER[order]], ranked.is_copy(order)
    is_odd = p <= ranked.alpha
    n_copies, n_documents = (is_odd & is_copy).sum(), (p.notna() & ~is_copy).sum()
    copies = f" and {count(n_copies, 'copy', 'copies')} of them" if n_copies else ""
    larger = _MORE * ranked.alpha
    of_larger = ""
    if n_documents * ranked.alpha < _FEW_ODD and larger < 1:
        of_larger = f"; {larger:g} calls {(~is_copy & (p <= larger)).sum():,} odd"
    return (
        f"{(is_odd & ~is_copy).sum():,} of {n_documents:,} different documents{copies}, those with p of at "
        f"most {ranked.alpha:g} (--alpha{of_larger})."
    )


def notes(ranked: "OddDocuments") -> Iterator[str]:
    """Yield notes on p-values, groups, languages and marks."""
    from adbench_text.documents.models.model import FORM

    for order in printed(ranked):
        p = ranked.table[P_OF_ORDER[order]][~ranked.is_copy(order)].dropna()
        if p.min() > ranked.alpha:
            few = f"{len(p):,} different documents"
            if ranked.in_languages:
                few = "such small languages"
            elif ranked.groups and order == "words":
                few = "such small groups"
            least = rounded(p.min(), 2, ranked.alpha)
            yield f"with {few} no p{_by(ranked, order)} is below {least}, so none is odd; raise --alpha."
    by_form = "p" if ranked.detector == FORM else "p_form"  # chosen as the detector, form fills column p
    yield from few_notes(int(ranked.table[by_form][~ranked.is_copy("form")].count()), "p by form")
    if ranked.groups:
        yield from _notes_on_groups(ranked.groups.groups)
    if ranked.other_language is not None:
        yield forgotten_language(ranked.other_language, ranked.language)
    if ranked.second_language is not None:
        yield second_language(*ranked.second_language, ranked.language)
    if len(ranked.marked) and not ranked.learns_from_marks:
        yield f"{ranked.detector} only leaves out documents marked odd; it cannot learn from them."


def _notes_on_groups(groups: "Groups") -> Iterator[str]:
    """Yield notes on unusual groups."""
    n_ranked = len(groups.names) + (1 if groups.small else 0)  # all small groups are ranked as one group
    if n_ranked < 2:
        yield "all documents are ranked as one group; --group needs a column with at least two large groups."
    if groups.alike:
        named = "; ".join(
            listing([repr(label)[:_LONGEST] for label in labels], 3) for labels in groups.alike[:3]
        )
        yield f"some groups differ only in spaces or case, and are ranked separately: {named}."
