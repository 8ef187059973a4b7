"""How Sphinx builds the documentation: `make docs`."""

import re
from typing import cast

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

from crawlgauge import __version__
from crawlgauge.cli.main import command

project = "crawlgauge"
author = "The crawlgauge developers"
copyright = "The crawlgauge developers; Apache-2.0"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"crawlgauge {version}"
html_static_path = ["_static"]
html_css_files = ["equations.css"]
html_copy_source = False
html_show_sphinx = False
html_math_renderer = "mathml"

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
# Single backquotes in docstrings become links where there is something to link to.
default_role = "py:obj"
nitpick_ignore_regex = [
    ("py:obj", r".*"),
    # Loaded only when somebody draws, so that its name cannot be looked up where it is named.
    ("py:class", r"(Answer|Chart|DataFrame|Exported|Figures|NoChart|Section|SparkSession|StrPath)"),
    # A data frame of any library.
    ("py:class", r"crawlgauge\.frames\.ArrowStream"),
    # Where a store or set is: as a path, whose methods are those of pathlib.
    ("py:class", r"crawlgauge\.sources\.remote\.RemotePath"),
    # Names of other libraries; looking them up would need the network at every build.
    ("py:(class|data)", r"(collections|datetime|dt|np|numpy|os|pathlib|pd|pl|typing)\..*"),
    (
        "py:class",
        r"(Path|PathLike|NDArray|u?int32|u?int64|float64|Any|Callable|Iterable|Iterator|Mapping|optional)",
    ),
]

COMMANDS_MARK = "<!-- the help of every command -->"
HELP_WIDTH = 88
_ARRAY = re.compile(
    r"~numpy\.ndarray\[tuple\[~typing\.Any, \.\.\.\], ~numpy\.dtype\[~numpy\.(\w+)\]\]"
)


def render_commands() -> str:
    """Return the help text of the program and of each of its commands as Markdown."""
    settings = {"resilient_parsing": True, "terminal_width": HELP_WIDTH}
    top = command.make_context("crawlgauge", [], **settings)
    parts = [_render_help("crawlgauge", command.get_help(top))]
    for name, subcommand in command.commands.items():
        context = subcommand.make_context(name, [], parent=top, **settings)
        parts.append(_render_help(f"crawlgauge {name}", subcommand.get_help(context)))
    return "\n".join(parts)


def _render_help(title: str, text: str) -> str:
    return f"## {title}\n\n```text\n$ {title} --help\n{text}\n```\n"


def insert_commands(_app: Sphinx, docname: str, source: list[str]) -> None:
    if docname == "reference/cli":
        source[0] = source[0].replace(COMMANDS_MARK, render_commands())


def list_generated_pages(*_: object) -> list[str]:
    """Name the pages whose text comes from the program, so that every build reads them anew."""
    return ["reference/api", "reference/cli"]


def simplify_signature(*arguments: object) -> tuple[str | None, str | None]:
    """Write defaults and arrays as people do; Sphinx cannot read what Python prints for them."""
    signature, returned = (
        text and _ARRAY.sub(r"NDArray[\1]", text.replace("<factory>", "..."))
        for text in cast("list[str | None]", arguments[-2:])
    )
    return signature, returned


def visit_math(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def visit_math_block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math"))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append(tex2mathml(node.astext(), as_block=True) + "</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    # MathML is drawn by the browser itself: no script and no network, also in ten years.
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.connect("autodoc-process-signature", simplify_signature)
    app.connect("source-read", insert_commands)
    app.connect("env-get-outdated", list_generated_pages)
