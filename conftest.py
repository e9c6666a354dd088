"""What nbval compares: text, LaTeX and HTML. Pictures are compared by refreshing on the pinned versions, since the last
digit of a coordinate may differ between machines; a missing or surplus picture still fails."""

PICTURES = ("image/svg+xml", "image/png", "image/jpeg")


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="run the long tests too")


def pytest_collection_modifyitems(config, items):
    long = [] if config.getoption("--full") else [item for item in items if item.get_closest_marker("full")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in set(long)]
    for item in items:
        skipped = getattr(item.parent, "skip_compare", None)
        if skipped is not None:
            item.parent.skip_compare = (*skipped, *PICTURES)


def pytest_make_parametrize_id(config, val, argname):
    """Functions are named in test ids by their name: their addresses differ between processes."""
    return val.__name__ if callable(val) and hasattr(val, "__name__") else None
