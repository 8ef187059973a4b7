"""The command ``completion``: the script by which a shell completes words."""

import click

from crawlgauge.cli import options


@options.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@options.quiet
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes words in your shell.

    Commands, options, their choices, labels of crawls, and names of files are completed.

    Examples
    --------
    crawlgauge completion bash > ~/.local/share/bash-completion/completions/crawlgauge
    crawlgauge completion zsh > ~/.zfunc/_crawlgauge
    crawlgauge completion fish > ~/.config/fish/completions/crawlgauge.fish

    Notes
    -----
    In zsh the folder must be named before compinit in ~/.zshrc: fpath=(~/.zfunc $fpath). Open a new
    shell afterwards.
    """
    from click.shell_completion import BashComplete, FishComplete, ZshComplete

    kind = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}[shell]
    click.echo(kind(context.find_root().command, {}, "crawlgauge", options.COMPLETE).source())
