"""``adbench-text fit``: Fit a model of normal documents and save it."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adbench_text.cli.options import TRACKING_URI, SectionedCommand, say
from adbench_text.cli.own_text import (
    ALPHA,
    CHOICE,
    DIALECT,
    DOCUMENTS,
    WORK,
    few_notes,
    forgotten_language,
    found_languages,
    how_read,
    language_notes,
    opened,
    print_notes,
    values_of,
)
from adbench_text.cli.progress import shown_documents
from adbench_text.cli.score_sentences import out_of_reach
from adbench_text.escaping import count
from adbench_text.text.language_finder import AUTO

if TYPE_CHECKING:
    from adbench_text.documents.models.model import Model

_OPTIONS = [
    "Input",
    *DOCUMENTS,
    click.Option(
        ["--outliers"], metavar="FILE", help="Documents known to be odd, with the same columns and encoding."
    ),
    "Detector",
    *CHOICE,
    "Output",
    click.Option(
        ["--model", "-m"], required=True, type=click.Path(path_type=Path), help="Folder of the model."
    ),
    click.Option(["--overwrite"], is_flag=True, help="Replace the model in this folder."),
    "MLflow",
    click.Option(
        ["--log-model", "registered"], metavar="NAME", help="Register the model in MLflow under this name."
    ),
    click.Option(["--alias"], help="Alias of the registered model, such as winner."),
    TRACKING_URI,
    "Execution",
    *WORK,
]


@click.command("fit", cls=SectionedCommand, listed=_OPTIONS)
@click.argument("file")
def command(file: str, model: Path, overwrite: bool, **options: Any) -> None:
    """Fit a detector on the normal documents of FILE, calibrate it, and save it in a folder.

    The model also learns the form of the raw documents (length, characters, kinds of words). All documents
    should be normal: odd ones make the model more lenient. To find odd documents in a file, use the command
    odd.
    """
    from adbench_text.documents.fitting import fit_model
    from adbench_text.documents.models.folder import (
        check_can_be_saved,
        check_can_be_served,
        check_target,
        save_model,
    )
    from adbench_text.documents.own_detector import own_detector
    from adbench_text.text.own_encoder import unidentified

    registered, alias = options["registered"], options["alias"]
    if alias and not registered:
        raise click.UsageError("--alias names a registered model; give --log-model too.")
    check_target(model, overwrite)
    choice = values_of(CHOICE, options)
    own = own_detector(choice["detector"], choice["preset"], choice["settings"])
    check_can_be_saved(own.name, own.detector)
    if registered:
        check_can_be_served(own.detector.get_params())
    # fitting does not use identifiers, so they may be duplicates
    is_auto = choice["language"] == AUTO
    source = opened(file, {**options, "id": options["id"] or ""})
    texts = source.table(())
    outliers: list[str] = []
    if options["outliers"]:  # the suffix of the file of outliers gives its format
        of_outliers = opened(options["outliers"], {**options, "id": "", "kind": None})
        outliers = list(of_outliers.table(()).texts())
        print_notes(of_outliers.late_notes)
    begin = time.perf_counter()
    with shown_documents() as progress:
        fitted = fit_model(
            texts,
            **choice,
            source=Path(file).name,
            outliers=outliers,
            jobs=options["address"] or options["jobs"],
            progress=progress,
        )
    # score reads its file in the same way
    reading = {name: options[name] for name in ("id", *DIALECT)}
    reading |= {"text": source.text_columns, "format": source.kind}
    fitted.training.options.update(reading)
    save_model(fitted, model, overwrite=overwrite)
    say(f"{_summary(fitted)}; {time.perf_counter() - begin:.1f} s")
    say(how_read(source))
    facts = fitted.training.options
    choice["language"] = facts["language"]
    of_language = found_languages(facts["languages"]) if is_auto else []
    if other := facts.get("other_language"):
        of_language.append(forgotten_language(other, choice["language"]))
    of_language += language_notes(choice)
    of_encoder = [
        f"the encoder {reason}, so score cannot see whether it has changed."
        for identity in fitted.detector.resources().values()
        if (reason := unidentified(identity))
    ]
    print_notes([*source.late_notes, *of_language, *_few_documents(fitted), *of_encoder])
    say(f"Model: {model}. Score documents: adbench-text score {model} FILE")
    if registered:
        from adbench_text.documents.models.registered import log_model

        say(f"Registered: {log_model(model, registered, options['tracking_uri'], alias)}")


def _summary(model: "Model") -> str:
    """Return a line with the counts of documents, the detector, and what it learned from."""
    facts, n_learned = model.training.options, model.training.n_documents
    n_near = facts["n_near_copies"]
    n_different = facts["n_documents"] - facts["n_copies"] - n_near - facts["n_empty"]
    n_same = facts["n_same_words"]
    same = f", {n_same:,} with the same words" if n_same else ""
    near = f", {count(n_near, 'near-copy', 'near-copies')}" if n_near else ""
    learned = f"learned from {n_learned:,} of them, " if n_learned < n_different else ""
    if facts["n_outliers"]:
        learned += f"knows {count(facts['n_outliers'], 'outlier')}, "
    return (
        f"{facts['n_documents']:,} documents, {count(facts['n_copies'] - n_same, 'duplicate')}{same}{near}, "
        f"{facts['n_empty']:,} without words; {facts['configuration']}, {learned}"
        f"calibrated by its scores ({model.calibrated_by})"
    )


def _few_documents(model: "Model") -> list[str]:
    """Return notes if the model learned from few documents."""
    from adbench_text.documents.models.model import default_order

    n = len(model.calibrations[default_order(model)])
    by_default = f"score with its default, --alpha {ALPHA:g},"
    return [*few_notes(len(model.calibration), "p"), *out_of_reach(by_default, 1 / (1 + n), ALPHA)]
