"""MLflow's client as this package wants it: errors in one line, Ctrl-C held back, all pages."""

import logging
import os
from collections.abc import Callable, Iterator
from typing import Any

from adbench_text import interrupts
from adbench_text.errors import TrackingError
from adbench_text.store_address import check_reachable, first_line, without_password


class StoreClient:
    """MLflow's client, whose errors are ours, each in one line."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._lost: TrackingError | None = None
        self._client = self._attempt(self._connect)

    def _connect(self) -> Any:
        os.environ["MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT"] = "true"  # two lines for each run
        os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
        # else it tries for four minutes to reach a server that is gone
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "4")
        from mlflow import MlflowClient

        for name in ("mlflow", "alembic"):  # the migrations of a new database, line by line
            logging.getLogger(name).setLevel(logging.WARNING)
        return MlflowClient(self._uri)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)
        return lambda *args, **kwargs: self._attempt(method, *args, **kwargs)

    def _attempt(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        from mlflow.exceptions import MlflowException
        from sqlalchemy.exc import SQLAlchemyError

        if self._lost:  # each further attempt would take MLflow minutes
            raise self._lost
        try:
            with interrupts.held_back():  # one in the midst of it may leave a transaction open
                return function(*args, **kwargs)
        except (MlflowException, SQLAlchemyError, OSError, ImportError) as error:
            try:
                check_reachable(self._uri)
            except TrackingError as lost:
                self._lost = lost
                raise
            raise TrackingError(
                f"The store {without_password(self._uri)} cannot be used: {first_line(error)}"
            ) from error


def pages(search: Callable[..., Any], *args: Any, **kwargs: Any) -> Iterator[Any]:
    """Yield all that a search of MLflow finds, page after page."""
    token: str | None = None
    while True:
        page = search(*args, page_token=token, **kwargs)
        yield from page
        token = page.token
        if not token:
            return
