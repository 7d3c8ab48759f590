"""What score says about a file besides its documents: drift and new near-copies."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from adbench_text.escaping import count, one_line

if TYPE_CHECKING:
    from adbench_text.calibration import Drift, Family
    from adbench_text.cli.score_output import FileScores
    from adbench_text.documents.models.model import Model


def nothing_odd(found: "FileScores", least: float, alpha: float, fdr: float | None) -> Iterator[str]:
    """Yield why nothing can be called odd, given the least p of a model."""
    why = f"no p of this model is below {least:.2g}. Fit on more documents"
    if fdr is None and least > alpha:
        yield f"--alpha {alpha:g} calls nothing odd: {why}; near-copies count once."
    if fdr is not None and not found.n_odd and least > fdr / found.n_documents:
        yield f"--fdr {fdr:g} calls nothing odd: {why}, or use --alpha."


def other_language(found: str, of_model: str) -> str:
    """Return that most documents are in another language than those of the model."""
    return (
        f"most documents are in the language {found!r}, and the model is for {of_model!r}. "
        f"Score them with a model of such documents: fit --language {found}."
    )


def of_family(family: "Family") -> str:
    """Return a family of near-copies in a line, named by its first document."""
    like = f"id {family.id:.60}: {family.text:.60}" if family.id else f"row {family.row}"
    return one_line(f"Near-copies: {family.n_documents:,} new documents like {like}")


def drift_line(found: "FileScores", drift: "Drift", alpha: float, fdr: float | None) -> str:
    """Return in a line how many new texts are odd, and whether they differ from those of the model."""
    from adbench_text.calibration import LEAST_P

    n_expected = format(drift.n_expected, ",.0f" if drift.n_expected >= 10 else ".2g")
    new = f", {count(drift.n_new, 'new text')}" if drift.n_new < found.n_documents else ""
    odd = f"{drift.n_odd:,} called odd ({n_expected} expected at alpha {alpha:g}, p {drift.p_odd:.2g})"
    if fdr is not None:
        of_all = f"on average at most {100 * fdr:.3g} % of them false alarms"
        new_odd = f"{count(drift.n_odd, 'new text')} with p of at most {alpha:g}"
        odd = (
            f"{count(found.n_odd, 'document')} called odd (--fdr: {of_all}), {new_odd} "
            f"({n_expected} expected, p {drift.p_odd:.2g})"
        )
    odd = f"{count(found.n_documents, 'document')}{new}, {odd}"
    uniform = ""
    if drift.p is not None:
        look = "are not" if drift.p < LEAST_P else "look"
        uniform = f"; p-values {look} uniform (Kolmogorov-Smirnov {drift.distance:.2g}, p {drift.p:.2g})"
    if drift.p_family < LEAST_P:
        uniform += f"; {drift.n_family:,} are near-copies of each other (p {drift.p_family:.2g})"
    verdict = "this file differs" if drift.is_found else "no sign that this file differs"
    return f"{odd}{uniform}: {verdict} from the file of the model."


def learned(model: "Model") -> str:
    """Return what the model has learned from, and what p is a share of."""
    return (
        f"{model.training.options.get('configuration', model.name)}, fitted on "
        f"{model.training.n_documents:,} documents; p is the share of normal documents that score at "
        "least as high."
    )
