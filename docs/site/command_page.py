"""The page of the reference on the command line, from the parsers that read it."""

import argparse
from collections.abc import Iterator

from docs.site.settings_pages import escaped
from verlet_addon.blender.cli.arguments import add_commands

INTRO = """\
`blender --command verlet COMMAND …`, or `python -m verlet_addon COMMAND …` with Blender as a
Python module. [The command line](command_line.md) tells how to use it, with examples; `--help`
after a command prints what is here."""


def command_page() -> dict[str, str]:
    """The Markdown of the page, by the name of its file."""
    parser = argparse.ArgumentParser()
    add_commands(parser)
    (commands,) = (
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    )
    paragraphs = ["# Options of the command line", INTRO]
    for name, command in commands.choices.items():
        paragraphs += _entry(name, command)
    return {"command_line_options.md": "\n\n".join(paragraphs) + "\n"}


def _entry(name: str, command: argparse.ArgumentParser) -> Iterator[str]:
    """The paragraphs on one command."""
    yield f"## `{name}`"
    yield escaped(command.description or "")
    shown = (action for action in command._actions if action.dest != "help")
    yield "\n".join(_option(action) for action in shown)
    if command.epilog:
        yield escaped(command.epilog)


def _option(action: argparse.Action) -> str:
    """The line on an argument."""
    values = action.metavar or (action.dest.upper() if action.nargs != 0 else "")
    if action.choices:
        values = "{" + ",".join(map(str, action.choices)) + "}"
    values = " ".join(values) if isinstance(values, tuple) else values
    names = ", ".join(action.option_strings)
    needed = "" if not (action.option_strings and action.required) else " Needed."
    return f"- `{f'{names} {values}'.strip()}`: {escaped(action.help or '')}.{needed}"
