"""``adbench-text export``: Write splits as plain files, for programs of any kind."""

from pathlib import Path
from typing import Any

import click

from adbench_text.cli.options import SPLITS
from adbench_text.cli.progress import count
from adbench_text.cli.sweep import splits_of
from adbench_text.errors import InvalidValueError
from adbench_text.escaping import file_name


@click.command("export", params=[*SPLITS])
@click.option(
    "--to",
    "folder",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="New folder to write to; it gets a folder for each split.",
)
@click.option(
    "--raw/--cleaned",
    "is_raw",
    default=True,
    help="Documents as they were written, or only their words, as most detectors read them.  [default: raw]",
)
def command(folder: Path, is_raw: bool, **options: Any) -> None:
    """Write the splits of datasets as plain files, so that any program can score them.

    Each split is a folder with train.jsonl and test.jsonl (id and text in each line), labels.csv (id and
    outlier, which that program must not read) and split.json (what it is, and digests of the texts). Write
    scores.csv (id and score; higher is more abnormal) beside them, and run the same splits with
    -d scores:DIR.
    """
    from adbench_text.contract.cleaner import Cleaner
    from adbench_text.corpora.corpus import cleaner_of, load
    from adbench_text.plugins import exported, registry
    from adbench_text.run.evaluate import split_of
    from adbench_text.run.runner import impossible

    if folder.exists() and any(folder.iterdir()):
        raise InvalidValueError(f"{folder} is not empty; give a new folder.")
    sweep = splits_of(options)
    if any(sweep.labelled):
        numbers = ", ".join(map(str, sweep.labelled))
        raise InvalidValueError(
            f"A split with known outliers cannot be exported, got --labelled {numbers}: no file is for them."
        )
    corpora = {name: load(registry.dataset(name), sweep.limit) for name in sweep.datasets}
    cells = sweep.splits()
    left_out = impossible(cells, corpora)
    for reason in dict.fromkeys(left_out.values()):
        click.echo(f"Left out: {reason}", err=True)
    cells = [cell for cell in cells if cell not in left_out]
    for cell in cells:
        split = split_of(cell, corpora[cell.dataset], raw=True)
        planted = f"-{cell.planted}" if cell.planted else ""
        name = f"{cell.inlier}-{cell.contamination:g}-seed{cell.seed}{planted}"
        facts = {key: text for key, text in cell.texts.items() if text and key != "preset"}
        facts["texts"] = "as written" if is_raw else "cleaned"
        place = folder / file_name(cell.dataset) / file_name(name)
        clean = Cleaner(None) if is_raw else cleaner_of(corpora[cell.dataset])
        exported.write(place, facts, split.train, split.test, split.outlier, clean)
    texts = "texts as they were written" if is_raw else "cleaned texts"
    click.echo(
        f"{count(len(cells), 'split')} written to {folder} ({texts}). Add a scores.csv to each, then run the "
        f"same with -d scores:{folder}; this is the name of your detector in reports."
    )
