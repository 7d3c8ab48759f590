"""``adbench-text export``: Write splits as plain files for other programs."""

from pathlib import Path
from typing import Any

import click

from adbench_text.cli.options import click_option
from adbench_text.errors import InvalidValueError
from adbench_text.escaping import count, file_name
from adbench_text.run.cell_options import OF_SPLITS


@click.command("export", params=[*map(click_option, OF_SPLITS)])
@click.option(
    "--to",
    "folder",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="New folder; each split is a folder in it.",
)
@click.option(
    "--raw/--cleaned",
    "is_raw",
    default=True,
    help="Write raw documents, or cleaned ones. Most detectors read cleaned ones.",
)
def command(folder: Path, is_raw: bool, **options: Any) -> None:
    """Write the splits of datasets as plain files, so that any program can score them.

    Each split is a folder with train.jsonl and test.jsonl (id and text in each line), labels.csv (id and
    outlier; a program that scores must not read this file) and split.json (facts about the split, and
    digests of the texts). With --known-outliers there is known.jsonl, too. Write scores.csv (id and score;
    higher is more
    abnormal) into this folder, and run the same splits with -d scores:DIR.
    """
    from adbench_text.contract.cleaner import Cleaner
    from adbench_text.corpora.corpus import cleaner_of, load
    from adbench_text.corpora.split import draw
    from adbench_text.plugins import exported, registry
    from adbench_text.run.runner import impossible
    from adbench_text.run.sweep_options import splits_of

    if folder.exists() and any(folder.iterdir()):
        raise InvalidValueError(f"{folder} is not empty; give a new folder.")
    sweep = splits_of(options, lambda text: click.echo(text, err=True))
    corpora = {name: load(registry.dataset(name), sweep.limit) for name in sweep.datasets}
    keys = sweep.splits()
    left_out = impossible(keys, corpora)
    for reason in dict.fromkeys(left_out.values()):
        click.echo(f"Left out: {reason}", err=True)
    keys = [key for key in keys if key not in left_out]
    if not keys:
        raise InvalidValueError(f"No split can be exported: {next(iter(left_out.values()))}")
    for key in keys:
        corpus = corpora[key.dataset]
        facts = {**key.columns(), "texts": "as written" if is_raw else "cleaned"}
        clean = Cleaner(None) if is_raw else cleaner_of(corpus)
        split = draw(corpus.raw, key)
        documents = {"train": split.train, "known": split.known, "test": split.test}
        place = folder / file_name(key.dataset) / key.slug
        exported.write(place, facts, documents, split.outlier, clean)
    texts = "texts as they were written" if is_raw else "cleaned texts"
    click.echo(
        f"{count(len(keys), 'split')} written to {folder} ({texts}). Add a scores.csv to each. Then run the "
        f"same splits with -d scores:{folder}; reports show this as the name of your detector."
    )
