"""Draws the picture of the documentation: messages as the renderer makes them, as Telegram shows
them on a phone.

    python -m tests.telegram.picture

It needs Chromium. Look at what it made before you commit it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from agents_manager.channels.telegram_cards import Page, page
from agents_manager.domain import dialogue
from agents_manager.domain.card import Button, Card, Style
from agents_manager.domain.dialogue import About
from agents_manager.domain.payload import NeedsInfo, ProposeSplit
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt, PromptStatus
from tests.contract.store_values import a_prompt

PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "telegram.png"
ABOUT = About(title="Add authentication", number=41)
LINK = "https://manager.example/tasks/019a"
QUESTIONS: list[dict[str, Any]] = [
    {
        "id": "auth",
        "question": "Which auth strategy should I use?",
        "options": [
            {
                "label": "JWT tokens",
                "description": "Stateless, works with mobile clients",
                "recommended": True,
            },
            {
                "label": "Session-based",
                "description": "Server-side sessions, simpler but stateful",
            },
        ],
    }
]
WORK = {"files": 5, "additions": 142, "deletions": 23}
PHASES = [
    {"name": "Backend API", "complexity": "medium"},
    {"name": "Frontend UI", "complexity": "medium"},
    {"name": "Integration tests", "complexity": "low"},
]
ROBOT = """<svg class=robot viewBox="0 0 20 20">
<path fill="#8ca0b3" d="M9 1h2v3h4a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V6a2 2 0 0 1
2-2h4zM0 9h2v5H0zm18 0h2v5h-2z"/><path fill="#fff" d="M5 7h4v4H5zM11 7h4v4h-4zM6 13h8v2H6z"/>
</svg>"""
"""For 🤖, which not every machine has a letter for."""
STYLE = """
body { margin: 0; background: #b7d3a8; font: 16px/1.32 "Noto Sans", "DejaVu Sans", sans-serif; }
main { display: flex; gap: 12px; padding: 12px; }
section { width: 390px; display: flex; flex-direction: column; gap: 10px; }
.message { max-width: 340px; }
.bubble { background: #fff; border-radius: 14px 14px 14px 4px; padding: 8px 12px; font-size: 14.5px;
  white-space: pre-wrap; overflow-wrap: anywhere; box-shadow: 0 1px 1px #0002; }
.bubble a { color: #2a7ab8; }
.time { float: right; margin: 8px 0 0 8px; color: #8a9; font-size: 11px; }
.mine { align-self: flex-end; } .mine .bubble { background: #e3fdd2; border-radius: 14px 14px 4px; }
.quote { border-left: 3px solid #4a9; padding-left: 6px; color: #576; font-size: 12.5px; }
.row { display: flex; gap: 4px; margin-top: 4px; }
.row span { flex: 1; background: #6a8a5ccc; color: #fff; text-align: center; border-radius: 8px;
  padding: 9px 4px; font-size: 13px; font-weight: 600; }
.row .primary { background: #3b8fd6; } .row .danger { background: #d6594b; }
.toast { align-self: center; background: #000a; color: #fff; border-radius: 8px; padding: 8px 14px;
  font-size: 13.5px; }
.robot { width: 15px; height: 15px; vertical-align: -2px; }
"""


def asked(kind: PromptType, payload: Mapping[str, Any]) -> Prompt:
    return a_prompt(type=kind, payload=payload, roles=())


def question() -> Prompt:
    said = NeedsInfo.model_validate({"questions": QUESTIONS})
    return asked(PromptType.INFO_REQUEST, said.model_dump(mode="json"))


def split() -> Prompt:
    said = ProposeSplit.model_validate({"reason": "It is three things.", "proposedPhases": PHASES})
    return asked(PromptType.SPLIT_PROPOSAL, said.model_dump(mode="json"))


def card(step: dialogue.Step) -> Card:
    buttons = tuple(
        Button(id=str(n), label=w.label, style=w.style) for n, w in enumerate(step.ways)
    )
    return Card(title=step.title, body=step.body, buttons=buttons, hint=step.hint, link=LINK)


def answered() -> Card:
    over = replace(
        question(),
        status=PromptStatus.RESPONDED,
        response={"answers": [{"question_id": "auth", "option": "JWT tokens"}]},
        responded_by="ann",
        responded_via="web",
    )
    return card(dialogue.closed(over, ABOUT))


def bubble(shown: Page, time: str) -> str:
    text = shown.html.replace("🤖", ROBOT).replace(LINK, f"<a>{LINK}</a>")
    rows = "".join(f"<div class=row>{''.join(map(key, row))}</div>" for row in shown.rows)
    said = f"<div class=bubble>{text}<span class=time>{time}</span></div>"
    return f"<div class=message>{said}{rows}</div>"


def key(button: Button) -> str:
    kind = "" if button.style is Style.PLAIN else button.style.value
    return f'<span class="{kind}">{escape(button.label)}</span>'


def mine(words: str, time: str, to: str = "") -> str:
    quote = f"<div class=quote>{escape(to)}</div>" if to else ""
    return (
        f'<div class="message mine"><div class=bubble>{quote}{escape(words)}'
        f"<span class=time>{time}</span></div></div>"
    )


def columns() -> Iterator[str]:
    review = card(dialogue.step(asked(PromptType.REVIEW, WORK), ABOUT))
    ask = "What must change?"
    yield bubble(page(card(dialogue.step(question(), ABOUT))), "09:12")
    yield bubble(page(card(dialogue.step(split(), ABOUT))), "09:14")
    yield "|"
    yield bubble(page(review), "09:41")
    yield bubble(Page(ask), "09:42")
    yield mine("The session must end after a day.", "09:43", to=ask)
    yield bubble(page(answered()), "09:12")
    yield bubble(page(review.model_copy(update={"body": ("x" * 23_112,)})), "10:02")


def main() -> None:
    sections = "".join(f"<section>{part}</section>" for part in "".join(columns()).split("|"))
    html = f"<!doctype html><meta charset=utf-8><style>{STYLE}</style><main>{sections}</main>"
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=flags)
        tab = browser.new_page(viewport={"width": 816, "height": 400}, device_scale_factor=1.5)
        tab.set_content(html)
        tab.screenshot(path=PICTURE, full_page=True)
        browser.close()


if __name__ == "__main__":
    main()
