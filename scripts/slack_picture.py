"""Takes the picture of messages in Slack for the documentation, from what the renderer makes of
cards.

    python scripts/slack_picture.py

It needs Chromium. Look at what it made before you commit it.
"""

import html
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from agents_manager.channels import slack_blocks
from agents_manager.channels.slack_blocks import Pending
from agents_manager.domain.card import Button, Card, Style

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "slack.png"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run"]
LINK = "https://manager.example/tasks/1"
QUESTION = Card(
    title='🤖 Agent needs input on "Add authentication"',
    body=(
        "Which auth strategy should I use?",
        "→ JWT tokens (recommended)\n   Stateless, works with mobile clients",
        "→ Session-based\n   Server-side sessions, simpler but stateful",
    ),
    buttons=(
        Button(id="1-a", label="JWT tokens (recommended)", style=Style.PRIMARY),
        Button(id="1-b", label="Session-based"),
        Button(id="1-c", label="Custom answer…"),
    ),
    hint="You can also reply in the thread with your own words.",
    link=LINK,
)
REVIEW = Card(
    title='🤖 PR ready for review: "Add authentication" (#41)',
    body=("+142 -23 across 5 files",),
    buttons=(
        Button(id="2-a", label="Approve", style=Style.PRIMARY),
        Button(id="2-b", label="Request changes…"),
    ),
    link=LINK,
)
ANSWERED = Card(
    title='🤖 Agent proposes splitting "Add search"',
    body=("✓ ann answered via slack: Approve split",),
    link=LINK,
)
LONG = QUESTION.model_copy(
    update={"title": '🤖 Agent needs input on "Move to Postgres"', "body": ("word " * 3000,)}
)
ASKED = "Your answer to: Which auth strategy should I use?"
STYLE = """
body { margin: 0; padding: 24px; width: 1120px; background: #fff; color: #1d1c1d;
  font: 15px/1.46 Lato, "Noto Sans", "DejaVu Sans", "Noto Color Emoji", sans-serif; }
main { display: grid; grid-template-columns: 660px 1fr; gap: 40px; }
.message { display: grid; grid-template-columns: 36px 1fr; gap: 10px; margin-bottom: 22px; }
.face { width: 36px; height: 36px; border-radius: 6px; background: #4a154b; color: #fff;
  text-align: center; line-height: 36px; font-weight: 700; }
.name { font-weight: 900; } .app { background: #e8e8e8; color: #616061; border-radius: 2px;
  font-size: 10px; font-weight: 700; padding: 1px 3px; margin: 0 5px; }
.time, .context { color: #616061; font-size: 12px; }
h3 { font-size: 18px; margin: 6px 0; } p { margin: 6px 0; white-space: pre-wrap; }
.row { display: flex; flex-wrap: wrap; gap: 8px; margin: 8px 0; }
.button { border: 1px solid #bbb; border-radius: 4px; padding: 4px 12px; font-weight: 700;
  font-size: 13px; } .primary { background: #007a5a; border-color: #007a5a; color: #fff; }
.danger { color: #e01e5a; border-color: #e01e5a; }
.modal { border: 1px solid #ddd; border-radius: 8px; box-shadow: 0 6px 24px #0003;
  align-self: start; } .modal > * { padding: 14px 20px; margin: 0; }
.modal header, .modal footer { display: flex; justify-content: space-between; font-weight: 900;
  font-size: 18px; } .modal header { border-bottom: 1px solid #ddd; }
.modal footer { justify-content: end; gap: 8px; }
.field { border: 1px solid #868686; border-radius: 4px; height: 84px; margin-top: 6px;
  padding: 8px; color: #1d1c1d; font-weight: 400; } label { font-weight: 700; }
"""


# Not every machine has a font for it.
ROBOT = (
    '<svg width="20" height="20" viewBox="0 0 20 20" style="vertical-align: -3px">'
    '<path d="M10 1v4" stroke="#777" stroke-width="1.5"/><circle cx="10" cy="1.8" r="1.6" '
    'fill="#e01e5a"/><rect x="2.5" y="5" width="15" height="13" rx="3" fill="#9fb4c0"/>'
    '<circle cx="7" cy="10" r="2" fill="#1d1c1d"/><circle cx="13" cy="10" r="2" fill="#1d1c1d"/>'
    '<path d="M6 14.5h8" stroke="#1d1c1d" stroke-width="1.5"/></svg>'
)


def main() -> None:
    cards = (QUESTION, REVIEW, ANSWERED, LONG)
    shown = "".join(_message(card, f"10:{24 + n * 7}") for n, card in enumerate(cards))
    form = slack_blocks.form(ASKED, Pending(channel="D1", message="1.2", button="1-c", hook=None))
    page = f"<style>{STYLE}</style><main><div>{shown}</div>{_form(form)}</main>"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        tab = browser.new_page(viewport={"width": 1168, "height": 800})
        tab.set_content(page)
        tab.screenshot(path=PICTURE, full_page=True)
        browser.close()


def _message(card: Card, time: str) -> str:
    blocks = slack_blocks.message(card).blocks
    who = f'<span class="name">Agents Manager</span><span class="app">APP</span>{time} AM'
    head = f'<div class="time">{who}</div>'
    return f'<div class="message"><div class="face">A</div><div>{head}{_blocks(blocks)}</div></div>'


def _blocks(blocks: Iterable[Mapping[str, Any]]) -> str:
    return "".join(map(_block, blocks))


def _block(block: Mapping[str, Any]) -> str:
    match block["type"]:
        case "header":
            return f"<h3>{_text(block['text'])}</h3>"
        case "section":
            return f"<p>{_text(block['text'])}</p>"
        case "context":
            return f'<p class="context">{_text(block["elements"][0])}</p>'
        case "input":
            typed = "OAuth with our identity provider"
            return f'<label>{_text(block["label"])}<div class="field">{typed}</div></label>'
        case _:
            return f'<div class="row">{"".join(map(_button, block["elements"]))}</div>'


def _button(button: Mapping[str, Any]) -> str:
    return f'<span class="button {button.get("style", "")}">{_text(button["text"])}</span>'


def _form(form: Mapping[str, Any]) -> str:
    ends = f'<span class="button">{_text(form["close"])}</span>'
    ends += f'<span class="button primary">{_text(form["submit"])}</span>'
    head = f"<header>{_text(form['title'])}<span>✕</span></header>"
    body = f"<div>{_blocks(form['blocks'])}</div>"
    return f'<div class="modal">{head}{body}<footer>{ends}</footer></div>'


def _text(text: Mapping[str, Any]) -> str:
    return html.escape(text["text"]).replace("🤖", ROBOT)


if __name__ == "__main__":
    main()
