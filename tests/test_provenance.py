from adbench_text.provenance import environment, git_commit


def test_the_environment_names_the_libraries():
    assert {
        "adbench-text",
        "python",
        "numpy",
        "scikit-learn",
        "pyod",
        "torch",
        "platform",
    } <= environment().keys()
    assert all(environment().values())


def test_the_commit_is_that_of_the_checkout():
    commit = git_commit()
    assert commit.startswith("unknown") or len(commit.removesuffix("-dirty")) == 40
