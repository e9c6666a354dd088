"""Runs the cells of one page inside Pyodide: outputs go out through `send(kind, text)`, kinds as in a notebook."""

import ast
import builtins
import importlib.util
import io
import linecache
import logging
import pprint
import re
import sys
import traceback
import types
import warnings

import __main__

RICH = (("text/html", "_repr_html_"), ("image/svg+xml", "_repr_svg_"), ("text/latex", "_repr_latex_"))


class Stream(io.TextIOBase):
    """stdout or stderr: whole lines go out as they come."""

    def __init__(self, kind):
        self.kind, self.rest = kind, ""

    def write(self, text):
        whole, newline, self.rest = (self.rest + text).rpartition("\n")
        if newline:
            output(self.kind, whole + newline)
        return len(text)

    def flush(self):
        if self.rest:
            output(self.kind, self.rest)
        self.rest = ""


class Shown:
    """What IPython.display wraps: text of one kind."""

    def __init__(self, data="", **_):
        self.data = data


class HTML(Shown):
    def _repr_html_(self):
        return self.data


class Latex(Shown):
    def _repr_latex_(self):
        return self.data


def plain(value):
    """The value as a notebook prints it: long collections over several lines."""
    text = repr(value)
    return pprint.pformat(value, sort_dicts=False) if isinstance(value, (list, tuple, dict)) and len(text) > 79 else text


def display(*values):
    for value in values:
        for kind, method in RICH:
            text = getattr(value, method)() if hasattr(value, method) and not isinstance(value, type) else None
            if text:
                break
        else:
            kind, text = "text/plain", plain(value)
        sys.stdout.flush()
        output(kind, text)


def show_figures(*_, **__):
    """Every open figure, as SVG, and closes it."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    for number in pyplot.get_fignums() if pyplot else ():
        file = io.StringIO()
        pyplot.figure(number).savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
        pyplot.close(number)
        sys.stdout.flush()
        output("image/svg+xml", file.getvalue())


def stand_in(name, **names):
    """A small module in the place of one that the browser does without."""
    module = sys.modules[name] = types.ModuleType(name)
    module.__dict__.update(names)
    module.__spec__ = importlib.util.spec_from_loader(name, None)
    return module


def prepare(send):
    """Once, before the first cell: where outputs go, and what a notebook has of itself."""
    global output
    output = send
    sys.stdout, sys.stderr = Stream("stdout"), Stream("stderr")
    builtins.display = display
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)        # "building the font cache", on stderr
    stand_in("IPython", get_ipython=lambda: None, display=stand_in(
        "IPython.display", HTML=HTML, Latex=Latex, Math=Latex, Markdown=Shown, display=display))


def failure(error, name):
    """The traceback from the cell on, without this file."""
    frames = error.__traceback__
    while frames and frames.tb_frame.f_code.co_filename != name:
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames)).rstrip()


def run(code, number):
    """Runs a cell in the page's namespace; "" or the name of a module that was missing."""
    name = f"<cell {number}>"
    linecache.cache[name] = len(code), None, code.splitlines(keepends=True), name
    try:
        tree = ast.parse(code, name)
        value = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), __main__.__dict__)
        value = eval(compile(value, name, "eval"), __main__.__dict__) if value else None
        if value is not None and not re.search(r";\s*(#.*)?$", code):
            __main__._ = value
            display(value)
        show_figures()
    except ModuleNotFoundError as error:
        return error.name.split(".")[0], failure(error, name)
    except BaseException as error:
        return "", failure(error, name)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].show = show_figures
    return "", ""


warnings.filterwarnings("ignore", message=".*non-interactive.*")
