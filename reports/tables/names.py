"""The tables of a report by name; choosing them builds none."""

from collections.abc import Sequence

from adbench_text.errors import UnknownNameError

#: Tables that a report can hold, and what each shows.
TABLES = {
    "main": "every split at the lowest contamination level",
    "published": "differences from the published figures",
    "levels": "means at each contamination level",
    "intervals": "bootstrap intervals over the test documents",
    "ranks": "mean ranks of the detectors over the splits",
    "significance": "paired tests between detectors",
    "ablations": "configurations of one detector",
    "cost": "seconds, documents per second, memory",
}
BRIEF = ("main", "published", "levels")


def chosen_tables(names: Sequence[str], everything: bool) -> Sequence[str]:
    """Return which tables to show: those named, else all of them or the brief ones.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    """
    for name in names:
        if name not in (*TABLES, "all"):
            raise UnknownNameError("table", name, [*TABLES, "all"])
    if "all" in names or (everything and not names):
        return list(TABLES)
    return names or BRIEF
