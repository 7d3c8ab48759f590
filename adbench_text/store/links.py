"""Links to the pages of MLflow."""

from urllib.parse import quote, urlencode

from adbench_text.metrics import MAIN
from adbench_text.store.record import TAG

_SUMMARIES = f"tags.`{TAG}kind` = 'summary'"


def comparison(experiment_id: str) -> str:
    """Return the link to the charts of the summary runs of an experiment, without the server's address.

    Without `workflowType` MLflow 3 opens a page for language models, which is empty. The best runs come
    first, as MLflow draws ten.
    """
    parameters = {
        "workflowType": "machine_learning",
        "compareRunsMode": "CHART",
        "searchFilter": _SUMMARIES,
        "orderByKey": f"metrics.`{MAIN.name}`",
        "orderByAsc": "false" if MAIN.higher_is_better else "true",
    }
    return f"/#/experiments/{quote(experiment_id)}/runs?{urlencode(parameters, quote_via=quote, safe='')}"
