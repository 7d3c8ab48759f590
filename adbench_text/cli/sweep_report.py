"""Logs the report of a sweep to MLflow, beside its cells."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from adbench_text.corpora.corpus import Corpus
from adbench_text.metrics import MAIN
from adbench_text.places import described
from adbench_text.reports.build import build, write_all
from adbench_text.reports.formats import markdown
from adbench_text.run.runner import Watcher
from adbench_text.store.store import Store
from adbench_text.sweep.cell import Cell


def log_reports(store: Store, corpora: Mapping[str, Corpus], cells: Sequence[Cell], watcher: Watcher) -> None:
    """Log tables, figures and page of a sweep's cells to the parent runs of these datasets.

    The description of the parent run contains the main table.
    Failures here are reported and do not affect results: a report can be made again.
    """
    identities = {cell.identity for cell in cells}
    for dataset in sorted(corpora):
        digest = corpora[dataset].digest
        records = [
            record
            for record in store.cells([dataset])
            if record.identity in identities and record.dataset_digest == digest
        ]
        if not any(record.is_ok for record in records):
            continue
        watcher.message(f"writing the report on {dataset}")
        of_dataset = [cell for cell in cells if cell.dataset == dataset]
        with tempfile.TemporaryDirectory() as folder:
            try:
                table = build(records, MAIN.name, ["main"], cells=of_dataset)
                store.describe(dataset, markdown.render(table))
                write_all(records, store, Path(folder), of_dataset)
                store.log_folder(dataset, Path(folder))
            except Exception as error:  # of any kind: the results are already safe
                watcher.message(
                    f"No report on {dataset}: {described(error)}; make it by adbench-text report."
                )
