import pytest
from sweep_processes import CELLS, N_CELLS, query, start


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory) -> list:
    """The cells of a sweep that nothing disturbs, with their figures."""
    folder = tmp_path_factory.mktemp("undisturbed")
    assert start(folder).wait() == 0
    cells = sorted(query(folder, CELLS))
    assert len(cells) == N_CELLS
    return cells
