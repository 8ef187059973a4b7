"""Options that several commands share, what they may look like, and how shells complete them."""

import inspect
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMPLETE = "_CRAWLGAUGE_COMPLETE"
"""The variable by which the scripts of `crawlgauge completion` ask for words."""

_EXAMPLES = "\n\nExamples\n--------\n"
_NOTES = "\n\nNotes\n-----\n"

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]


# ------------------------------------------------------------------------- what values look like


class _Share(click.ParamType):  # type: ignore[type-arg] # older versions of click take none
    """A share, written as 0.8 or as 80%."""

    name = "share"

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        from fractions import Fraction

        if isinstance(value, float):
            return value
        number, percent, rest = value.strip().partition("%")
        try:
            return float(Fraction(number + rest) / (100 if percent else 1))
        except (ValueError, ZeroDivisionError):
            self.fail(f"{value!r} is not a share; write it as 0.8 or 80%.", param, ctx)


class _Name(click.ParamType):  # type: ignore[type-arg] # as above
    """A text that a shell completes: names of files or folders, or labels of the store's crawls."""

    def __init__(self, kind: str) -> None:
        # It stands in the help in capital letters.
        self.name = kind

    def shell_complete(
        self, ctx: click.Context, _param: click.Parameter, incomplete: str
    ) -> "list[CompletionItem[str]]":
        from click.shell_completion import CompletionItem

        if self.name != "label":
            return [CompletionItem(incomplete, type=self.name)]
        from crawlgauge.errors import StoreError
        from crawlgauge.locations import find_store
        from crawlgauge.store.catalogue import open_store

        try:
            labels = open_store(find_store(ctx.params.get("store"))).labels()
        except StoreError:
            return []
        return [CompletionItem(label) for label in labels if label.startswith(incomplete)]


SHARE = _Share()
FILE, FOLDER, LABEL = _Name("file"), _Name("dir"), _Name("label")
_TYPES = {
    "SHARE": SHARE,
    "LABEL": LABEL,
    "DIR": FOLDER,
    "STORE": FOLDER,
    **dict.fromkeys(("FILE", "FILE.csv", "CSV"), FILE),
    "INTEGER": click.INT,
}
"""What the value is of which a word in a help stands."""


# ------------------------------------------------------------------ how they and commands are made


def command() -> Callable[[Command], click.Command]:
    """Make a command of a function, whose docstring is its help with examples and notes."""
    return lambda function: click.command(cls=click.Command, **_read_help(function))(function)


def group(
    cls: type[click.Group] = click.Group,
    **more: Any,  # noqa: ANN401 - as `click.group`
) -> Callable[[Command], click.Group]:
    """Make a group of commands of a function, as `command` does."""
    return lambda function: click.group(cls=cls, **_read_help(function), **more)(function)


def _read_help(function: Command) -> dict[str, str]:
    """Return what stands before the options in a help, and what behind them."""
    text, _, examples = inspect.cleandoc(function.__doc__ or "").partition(_EXAMPLES)
    examples, _, notes = examples.partition(_NOTES)
    lines = "\n  ".join(["\b\nExamples:", *examples.splitlines()])
    return {"help": text, "epilog": f"{lines}\n\n{notes}".rstrip()}


def stack(*chosen: Decorator) -> Decorator:
    """Make one decorator of options, in the order of the help.

    Parameters
    ----------
    *chosen
        The options.
    """

    def give(command: Command) -> Command:
        for one in reversed(chosen):
            command = one(command)
        return command

    return give


def option(
    form: str,
    text: str,
    *,
    name: str | None = None,
    **more: Any,  # noqa: ANN401 - as `click.option`
) -> Decorator:
    """Give a command an option.

    Parameters
    ----------
    form
        As it stands in the help: ``-o --output FILE``, ``--by host|domain``, or ``--each`` for a
        flag. Words in capitals say what the value is; of some the type follows.
    text
        What it does, for the help.
    name
        Of the command's parameter, if it is not the option's.
    **more
        As for `click.option`. A default is shown.

    Examples
    --------
    >>> sample = option("--sample RATE", "Count only a part of the URLs.")
    """
    words = form.split()
    if words[-1].startswith("-"):
        more["is_flag"] = True
    else:
        takes = words.pop()
        is_choice = takes == takes.lower()
        of_takes = {"type": click.Choice(takes.split("|"))} if is_choice else {"metavar": takes}
        more = {"type": _TYPES.get(takes), "show_default": True} | of_takes | more
    return click.option(*words, *([] if name is None else [name]), help=text, **more)


def _keep(context: click.Context, parameter: click.Parameter, value: object) -> None:
    """Keep the value for all commands: --json, and the --store that stands before a command."""
    context.meta[f"crawlgauge.{parameter.name}"] = value


def wants_json() -> bool:
    """Tell whether the user wants JSON."""
    return bool(click.get_current_context().meta.get("crawlgauge.as_json"))


def _be_quiet(context: click.Context, _option: click.Parameter, value: bool) -> None:
    if value:
        context.obj = True
        logging.getLogger().setLevel(logging.ERROR)


def is_quiet() -> bool:
    """Tell whether the user wants to read of errors only."""
    return bool(click.get_current_context().obj)


def take_one(given: dict[str, object]) -> str | None:
    """Return which of several options is given, None if none is.

    Parameters
    ----------
    given
        The values by the options' names: None or False where one is not given.

    Raises
    ------
    click.UsageError
        If more than one are.
    """
    names = [name for name, value in given.items() if value not in (None, False)]
    if len(names) > 1:
        raise click.UsageError(f"give one of {' and '.join(names)}")
    return names[0] if names else None


def _find_store(context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Take the store that was named before the command if none is named after it."""
    return context.meta.get("crawlgauge.store") if value is None else value


def _offer_store(callback: Callable[..., Any], **more: Any) -> Decorator:  # noqa: ANN401
    text = (
        "The store, a folder or s3://bucket/prefix; else $CRAWLGAUGE_STORE, else "
        "./crawlgauge.store."
    )
    return option("--store DIR", text, is_eager=True, callback=callback, **more)


# ----------------------------------------------------------------- those that several commands have


store = _offer_store(_find_store)
store_of_all = _offer_store(_keep, expose_value=False)
quiet = option("-q --quiet", "Print errors only.", expose_value=False, callback=_be_quiet)
level = option(
    "--level url|content|text",
    "What is compared: URLs (the default), what was captured (content) or the words of pages "
    "(text). Crawls must have been added with --levels.",
)
as_json = stack(
    option("--json", "Print JSON.", name="as_json", expose_value=False, callback=_keep), quiet
)
replace = option("--replace", "Replace the crawl if the store has one with this label.")

figure = option(
    "--figure FILE", "Draw it too, as .svg, .png or .pdf; or write the figure's data as .csv."
)
crate = option(
    "--crate DIR",
    "Write into this folder what a repository of data takes in: tables, estimate and report as "
    "far as there are any, described as an RO-Crate.",
)
window = stack(
    option("--since DATE", "Leave out crawls before this date: 2015, 2015-06 or 2015-06-30."),
    option("--until DATE", "Leave out crawls after this date."),
    option("--exclude LABEL", "Leave out this crawl; may be given several times.", multiple=True),
)
reference = stack(
    option("--format NAME", "Format of the reference, as for add."),
    option("--column NAME|N", "The column of CSV, TSV, JSON Lines or Parquet to read."),
)
reading = stack(
    option(
        "--identity surt|scheme-free|raw|given",
        "Which URLs are the same. surt: the sort key of web archives, without scheme, www, "
        "session ids and order of the query. scheme-free: http or https alike, host in lower "
        "case. raw: as they are, without surrounding space and fragment. given: the key that the "
        "index file holds. All crawls of a store have the same: the store's, or surt if it is "
        "new.",
    ),
    option(
        "--status LIST",
        "HTTP statuses that count: any, or some of 2xx, 404, 200-299 and none (captures without "
        "a status) between commas. Revisit records count as 200.",
        default="2xx,none",
    ),
    option("--mime LIST", "Media types that count, such as text/html,image/*. By default all."),
    option(
        "--scope FILE",
        "Hosts, domains or SURT prefixes that count, one a line; ! before one excludes it.",
    ),
    option(
        "--format NAME",
        "Format of the inputs, if it is not to be told from their content: warc, arc, parquet, "
        "cdxj, cdx, crawl-log, server-json, jsonl, sitemap, access-log, csv or urls.",
    ),
    option("--column NAME|N", "The column of CSV, TSV, JSON Lines or Parquet that holds the URLs."),
    option(
        "--on-damage stop|keep",
        "What to do with a damaged input: store nothing, or keep what can be read and mark the "
        "crawl as incomplete.",
        default="stop",
    ),
    option(
        "--max-expansion N",
        "How many times larger than its compressed size an input may become.",
        type=click.FloatRange(min=1),
        default=500.0,
    ),
    option(
        "--sample RATE|auto",
        "Keep only a part of the URLs, the same part of every crawl: 1/64, 0.01, 1%, or auto for "
        "the 4 million with the smallest keys. By default all.",
    ),
    option(
        "--memory SIZE",
        "Take no more memory than this, such as 2G; what does not fit is sorted on disk, beside "
        "the store, or in the temporary folder if the store is remote. By default a quarter of "
        "the machine's.",
    ),
    option(
        "--rate N",
        "How many times a minute a CDX server is asked at most.",
        type=click.FloatRange(min=0, min_open=True),
        default=20.0,
    ),
)
