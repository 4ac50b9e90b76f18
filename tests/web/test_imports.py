"""A list of tasks, pasted or chosen, and issues: first shown, then made."""

import re
from pathlib import Path

from playwright.sync_api import FilePayload, Page, expect

from tests.github_server import FakeGitHub, Served
from tests.web.conftest import Work

LIST = "# Spring\n\n- [ ] Paint the door\n  - [ ] Buy paint\n- [x] Find the key\n- Ask Ann\n"


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
    left_out = dialog.get_by_role("group").filter(has_text="1 list item left out")
    expect(left_out.get_by_role("listitem")).to_have_text("line 6: Ask Ann")
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


def test_issues_are_shown_and_then_made(page: Page, work: Work, tmp_path: Path) -> None:
    github = FakeGitHub(tmp_path)
    github.issues.open(3, "Paint the door", labels=("bug",))
    github.issues.open(4, "Mend the roof")
    with Served(github) as served:
        work.site.am("config", "set", "--user", "--yes", "forge.baseUrl", served.url)
        page.goto(work.url("tasks"))
        page.get_by_role("button", name="Import…").click()
        dialog = page.get_by_role("dialog", name="Import tasks")
        dialog.get_by_label("From").select_option(label="Issues on GitHub")
        show = dialog.get_by_role("button", name="Show what would be made")
        dialog.get_by_label("Issues", exact=True).fill("door")
        expect(show).to_be_disabled()
        dialog.get_by_label("Issues", exact=True).fill("")
        show.click()
        expect(dialog.get_by_role("alert")).to_contain_text("name the repository as owner/name")

        dialog.get_by_label("Repository").fill("acme/shop")
        dialog.get_by_label("Labels").fill("bug")
        show.click()
        expect(
            dialog.get_by_role("row", name=re.compile("Paint the door Would be made"))
        ).to_be_visible()
        dialog.get_by_role("button", name="Make 1 task", exact=True).click()
        expect(dialog.get_by_role("status")).to_have_text("1 task made, none of them started.")
        github.issues.rows[3]["body"] = "Blue."
        show.click()
        expect(
            dialog.get_by_role("row", name=re.compile("Already there, changed since"))
        ).to_be_visible()
        dialog.get_by_role("link", name="Paint the door").click()
        issue = page.get_by_role("link", name="acme/shop#3", exact=True)
        expect(issue).to_have_attribute("href", "https://github.test/acme/shop/issues/3")
    assert github.faults == []
    assert work.site.am("config", "unset", "--user", "--yes", "forge.baseUrl") is not None
