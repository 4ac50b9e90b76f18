"""A list of tasks, pasted or chosen: first shown, then made."""

import re

from playwright.sync_api import FilePayload, Page, expect

from tests.web.conftest import Work

LIST = "# Spring\n\n- [ ] Paint the door\n  - [ ] Buy paint\n- [x] Find the key\n"


def file(name: str, content: bytes) -> FilePayload:
    return {"name": name, "mimeType": "text/plain", "buffer": content}


def test_a_list_is_shown_and_then_made(page: Page, work: Work) -> None:
    page.goto(work.url("tasks"))
    page.get_by_role("button", name="Import…").click()
    dialog = page.get_by_role("dialog", name="Import tasks")
    dialog.get_by_label("List", exact=True).fill("title,size\nDoor,xl\n")
    dialog.get_by_role("button", name="Show what would be made").click()
    expect(dialog.get_by_role("alert")).to_contain_text('line 2: size: there is no "xl".')

    dialog.get_by_label("File").set_input_files(file("latin.csv", b"title\nT\xfcr"))
    expect(dialog.get_by_role("alert")).to_contain_text("latin.csv is not UTF-8 text")
    dialog.get_by_label("File").set_input_files(file("todo.md", LIST.encode()))
    expect(dialog.get_by_role("alert")).to_have_count(0)
    dialog.get_by_role("button", name="Show what would be made").click()
    expect(
        dialog.get_by_role("row", name=re.compile("Paint the door Would be made"))
    ).to_be_visible()
    assert work.site.get("tasks", project=work.name)["items"] == []

    dialog.get_by_role("button", name="Make 2 tasks").click()
    expect(dialog.get_by_role("status")).to_have_text(
        "2 tasks made, none of them started. 1 checked off and skipped."
    )
    dialog.get_by_role("button", name="Show what would be made").click()
    expect(dialog.get_by_role("status")).to_contain_text("Nothing is new.")
    dialog.get_by_role("link", name="Buy paint").click()
    expect(page.get_by_role("heading", name="Buy paint", level=1)).to_be_visible()
    tasks = work.site.get("tasks", project=work.name)["items"]
    assert {task["status"] for task in tasks} == {"open"}
