"""`am completion`: what a shell needs to complete commands and identifiers."""

import click

from agents_manager.cli.output import Output
from agents_manager.cli.render import lines
from agents_manager.cli.serve import as_json

SHELLS = ("bash", "zsh", "fish")
MORE = {"zsh": "\ncompdef _am_completion am\n"}
"""As a file in $fpath, click's script for zsh answers the first Tab, but not the second: it takes
that for being sourced."""


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
@as_json
def completion(ctx: click.Context, shell: str, as_json: bool) -> None:
    """Print the script that makes a shell complete commands, options and identifiers.

    \b
    bash: am completion bash > ~/.local/share/bash-completion/completions/am
    zsh:  am completion zsh > ~/.zfunc/_am        (a folder that is in $fpath)
    fish: am completion fish > ~/.config/fish/completions/am.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(ctx.find_root().command, {}, "am", "_AM_COMPLETE").source() + MORE.get(shell, "")
    Output(as_json=as_json).show({"shell": shell, "script": script}, lambda: lines(script))
