"""Markdown of the documentation as HTML, with headings that can be linked to."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name  # pyright: ignore[reportUnknownVariableType]

Leads = Callable[[str], str | None]
"""Where a link of the page leads on the site, or None for what is not there."""

ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|#|/", re.IGNORECASE)
NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")
COLOURED = frozenset({"console", "ini", "json", "python", "sh", "toml", "yaml"})


@dataclass(frozen=True)
class Heading:
    level: int
    text: str
    anchor: str


@dataclass(frozen=True)
class Part:
    """What stands under a heading, as plain text."""

    heading: Heading
    text: str


def parse(text: str) -> list[Token]:
    """The tokens of a page; its headings have the anchors that GitHub gives them."""
    tokens = _parser().parse(text)
    taken = dict[str, int]()
    for heading, inline in _headings(tokens):
        anchor = NOT_IN_ANCHORS.sub("", plain(inline).lower()).replace(" ", "-")
        seen = taken.get(anchor, 0)
        taken[anchor] = seen + 1
        heading.attrSet("id", f"{anchor}-{seen}" if seen else anchor)
    return tokens


def headings(tokens: Sequence[Token]) -> list[Heading]:
    return [_heading(opening, inline) for opening, inline in _headings(tokens)]


def parts(tokens: Sequence[Token]) -> list[Part]:
    """What the page says, by heading; code is part of it."""
    found = list[tuple[Heading, list[str]]]()
    for before, token in pairwise(tokens):
        if before.type == "heading_open":
            found.append((_heading(before, token), []))
        elif found and token.type in ("inline", "fence"):
            found[-1][1].append(token.content if token.type == "fence" else plain(token))
    return [Part(heading, " ".join(" ".join(text).split())) for heading, text in found]


def links(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """What a link is called, and where it leads."""
    for token in tokens:
        children = token.children or []
        for at, child in enumerate(children):
            if child.type == "link_open":
                ends = next(i for i in range(at, len(children)) if children[i].type == "link_close")
                yield _words(children[at:ends]), str(child.attrs["href"])


def pictures(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        yield from (str(one.attrs["src"]) for one in token.children or [] if one.type == "image")


def plain(inline: Token) -> str:
    return _words(inline.children or [])


def html(tokens: Sequence[Token], leads: Leads) -> str:
    _lead(tokens, leads)
    _mark_empty_heads(tokens)
    parser = _parser()
    return str(parser.renderer.render(tokens, parser.options, {}))


def _headings(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    for before, token in pairwise(tokens):
        if before.type == "heading_open":
            yield before, token


def _heading(opening: Token, inline: Token) -> Heading:
    return Heading(int(opening.tag[1:]), plain(inline), str(opening.attrs["id"]))


def _words(children: Sequence[Token]) -> str:
    texts = {"text", "code_inline", "image"}
    return "".join(
        child.content if child.type in texts else " " if "break" in child.type else ""
        for child in children
    )


def _lead(tokens: Sequence[Token], leads: Leads) -> None:
    """What is in the repository and not on the site is named and not linked."""
    for token in tokens:
        opened = list[Token]()
        for child in token.children or []:
            if child.type == "link_open":
                opened.append(child)
                target = str(child.attrs["href"])
                where = target if ELSEWHERE.match(target) else leads(target)
                if where is None:
                    child.tag = "span"
                    child.attrs = {}
                else:
                    child.attrSet("href", where)
            elif child.type == "link_close":
                child.tag = opened.pop().tag


def _mark_empty_heads(tokens: Sequence[Token]) -> None:
    """A cell that says nothing is the head of no column."""
    for at, token in enumerate(tokens):
        if token.type == "th_open" and not tokens[at + 1].content:
            token.tag = tokens[at + 2].tag = "td"


class _Writer(RendererHTML):
    """Each method writes the tokens of its name."""

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        language = token.info.partition(" ")[0]
        code = escape(token.content)
        if language in COLOURED:
            code = highlight(token.content, get_lexer_by_name(language), _colours())
        return f'<div class="code"><pre tabindex="0"><code>{code}</code></pre></div>\n'

    def table_open(self, *_: Any) -> str:
        return '<div class="table" role="group" aria-label="Table" tabindex="0"><table>\n'

    def table_close(self, *_: Any) -> str:
        return "</table></div>\n"

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        source, words = escape(str(tokens[idx].attrs["src"])), escape(tokens[idx].content)
        return f'<a class="picture" href="{source}"><img src="{source}" alt="{words}"></a>'

    def html_block(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """Comments are for programs. There is no other HTML, and it would not be obeyed."""
        content = tokens[idx].content
        return "" if content.lstrip().startswith("<!--") else escape(content)

    def html_inline(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return self.html_block(tokens, idx, options, env)

    def heading_close(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        heading = _heading(tokens[idx - 2], tokens[idx - 1])
        link = ""
        if heading.level > 1:
            label = f"Link to: {escape(heading.text)}"
            link = f'<a class="anchor" href="#{escape(heading.anchor)}" aria-label="{label}">#</a>'
        return f"{link}</h{heading.level}>\n"


@cache
def _colours() -> HtmlFormatter[str]:
    return HtmlFormatter(nowrap=True)


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": True}, renderer_cls=_Writer).enable("table")
