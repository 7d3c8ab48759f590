"""Cells as the store gives them, for tests of reports."""


def record(detector="llr", inlier="a", figure=0.9, seed=0, level=0, **changes):
    """One cell as the store gives it; the dataset made-up is not installed, so its classes are those here."""
    values = {
        "detector": detector,
        "preset": "default",
        "configuration": "",
        "dataset": "made-up",
        "dataset_digest": "d1",
        "inlier": inlier,
        "contamination": f"{level:g}",
        "seed": str(seed),
        "code_version": "1",
        "status": "ok" if figure is not None else "failed",
        "reason": "" if figure is not None else "RuntimeError: no luck",
        "edition": "published",
        "documents": "40 training / 20 test documents",
    }
    if figure is not None:
        values |= {"auroc": figure, "aupr_in": figure / 2, "aupr_out": figure / 4, "fpr95": 1 - figure}
        values |= {"fit_seconds": 1.5, "score_seconds": 0.25, "n_test": 20.0}
    return {**values, "n_train": 10.0, "kind": "cell", "cell": "id", "started": 0, **changes}


def failed(*args, **changes):
    return record(*args, figure=None, **changes)


def texts(table) -> list[list[str]]:
    return [[("*" if entry.best else "") + entry.text for entry in row] for row in table.rows]
