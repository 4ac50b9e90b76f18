"""Projects, settings, tokens, runs and costs: what the people who run it do there."""

import json

import httpx
from playwright.sync_api import Page, expect

from tests.e2e.am_program import until
from tests.push_server import FakePush
from tests.web.conftest import Site, Work, make_repo, make_work
from tests.web.test_inbox import Visit, asks, changes


def configure(work: Work, config: object) -> None:
    folder = work.repo / ".agents-manager"
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))


def test_a_project_is_added_and_forgotten(page: Page, site: Site) -> None:
    page.goto(f"{site.address}/projects")
    page.get_by_role("button", name="Add a project").click()
    dialog = page.get_by_role("dialog", name="Add a project")
    dialog.get_by_label("Repository").fill(str(site.folder))
    dialog.get_by_role("button", name="Add it").click()
    expect(dialog).to_contain_text("is not a git repository")
    other = make_repo(site.folder / "bakery")
    dialog.get_by_label("Repository").fill(str(other))
    dialog.get_by_role("button", name="Add it").click()
    panel = page.get_by_role("heading", name="bakery", exact=True).locator("../..")
    expect(panel).to_contain_text(str(other))
    panel.get_by_role("button", name="Forget…").click()
    page.get_by_role("button", name="Forget the project").click()
    expect(page.get_by_role("heading", name="bakery")).to_have_count(0)
    assert (other / ".git").exists()


def test_commands_are_trusted_after_a_look(page: Page, work: Work) -> None:
    configure(work, {"checks": {"test": {"command": "rm -rf /tmp/nothing"}}})
    page.goto(work.url("projects"))
    panel = page.get_by_role("heading", name=work.name, exact=True).locator("../..")
    expect(panel).to_contain_text("rm -rf /tmp/nothing")
    panel.get_by_role("button", name="Trust them as they stand").click()
    page.get_by_role("dialog").get_by_role("button", name="Trust them").click()
    expect(panel.get_by_text("commands not trusted")).to_have_count(0)
    assert work.site.get(f"projects/{work.name}")["commands_trusted"]


def test_a_setting_is_written_after_its_change_was_shown(page: Page, work: Work) -> None:
    page.goto(work.url("settings", section="project"))
    page.get_by_role("row", name="maxFixRounds").get_by_role("button", name="Change…").click()
    dialog = page.get_by_role("dialog", name="Change maxFixRounds")
    dialog.get_by_label("Value").fill("many")
    dialog.get_by_role("button", name="Show the change").click()
    expect(dialog.get_by_role("alert")).to_contain_text("maxFixRounds")
    dialog.get_by_label("Value").fill("1")
    dialog.get_by_role("button", name="Show the change").click()
    expect(dialog).to_contain_text('+  "maxFixRounds": 1')
    file = work.repo / ".agents-manager" / "config.json"
    assert not file.exists()
    dialog.get_by_role("button", name="Write it").click()
    expect(page.get_by_role("row", name="maxFixRounds")).to_contain_text("project, line 2")
    assert json.loads(file.read_text()) == {"maxFixRounds": 1}


def test_a_token_is_shown_once_and_revoked(page: Page, site: Site) -> None:
    page.goto(f"{site.address}/settings?section=access")
    page.get_by_role("button", name="New token").click()
    dialog = page.get_by_role("dialog", name="New token")
    dialog.get_by_label("Whose it is").fill("ben")
    dialog.get_by_role("button", name="Make it").click()
    token = dialog.locator("p.font-mono").inner_text()
    dialog.get_by_role("button", name="Done").click()

    def seen() -> int:
        given = {"Authorization": f"Bearer {token}"}
        return httpx.get(f"{site.address}/api/v1/me", headers=given).status_code

    assert seen() == 200
    page.get_by_role("row", name="ben").get_by_role("button", name="Revoke…").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("row", name="ben")).to_have_count(0)
    assert seen() == 401
    expect(page.get_by_text(token)).to_have_count(0)


def test_runs_are_stopped_where_they_are_listed(page: Page, work: Work) -> None:
    hangs = {"implement": [[{"say": "I think."}, {"hang": True}]]}
    tasks = [work.task(f"Part {n}", hangs, pipeline="simple") for n in (1, 2)]
    for task in tasks:
        until(lambda t=task: (work.view(t)["run"] or {}).get("started_at"))
    page.goto(work.url("runs"))
    page.get_by_role("button", name="Stop Part 1").click()
    until(lambda: work.view(tasks[0])["run"] is None)
    expect(page.get_by_role("button", name="Stop Part 1")).to_have_count(0)
    expect(page.get_by_role("button", name="Stop Part 2")).to_be_visible()
    work.site.post(f"runs/{work.view(tasks[1])['run']['id']}/stop")


def test_every_cost_leads_to_its_task(page: Page, work: Work) -> None:
    usage = {"input_tokens": 1200, "output_tokens": 300, "cost_usd": 0.02}
    script = {"implement": [changes({"usage": usage}, {"outcome": "pr_ready"})]}
    task = work.task("Price it", script, pipeline="simple")
    work.prompt(task)
    page.goto(work.url("costs", by="task"))
    row = page.get_by_role("row", name="Price it")
    expect(row).to_contain_text("$0.02")
    row.get_by_role("link").click()
    expect(page.get_by_role("heading", name="Price it", level=1)).to_be_visible()
    assert "tab=runs" in page.url


def test_five_thousand_files_are_a_list_first(page: Page, site: Site) -> None:
    bulk = 'i=0; while [ $i -lt 5000 ]; do echo "$i" > "file$i.txt"; i=$((i+1)); done\n'
    work = make_work(site, {"README.md": "# Shop\n", "bulk.sh": f"#!/bin/sh\n{bulk}"})
    agents = {"bulk": {"adapter": "command", "command": ["sh", str(work.repo / "bulk.sh")]}}
    configure(work, {"defaultAgentType": "bulk", "agents": agents})
    site.am("project", "trust", work.name)
    site.am("project", "consent", work.name)
    task = work.task(pipeline="simple")
    work.prompt(task)
    page.goto(work.url(f"tasks/{task}", tab="changes"))
    expect(page.get_by_role("region", name="file0.txt")).to_be_visible()
    expect(page.get_by_text("5000 files")).to_be_visible()
    assert page.evaluate("document.querySelectorAll('*').length") < 4000


def test_channels_are_turned_on_tried_and_people_let_in(page: Page, work: Work) -> None:
    page.goto(work.url("settings", section="channels"))
    slack = page.locator("section", has=page.get_by_role("heading", name="Slack"))
    slack.get_by_role("button", name="Turn on").click()
    expect(slack.get_by_text("not set up", exact=True)).to_be_visible()
    slack.get_by_role("button", name="Send a test").click()
    expect(page.get_by_text("set AM_SLACK_BOT_TOKEN").last).to_be_visible()
    slack.get_by_role("button", name="Let somebody in…").click()
    dialog = page.get_by_role("dialog", name="Let somebody in by Slack")
    dialog.get_by_label("Id").fill("U4711")
    dialog.get_by_label("Name").fill("ann")
    dialog.get_by_role("button", name="Let them in").click()
    row = slack.get_by_role("row", name="ann")
    expect(row).to_contain_text("U4711")
    row.get_by_role("button", name="Remove").click()
    expect(row).to_have_count(0)
    slack.get_by_role("button", name="Turn off").click()
    expect(slack.get_by_text("off", exact=True)).to_be_visible()


SUBSCRIBED = """
  PushManager.prototype.getSubscription = async function () { return this.made ?? null; };
  PushManager.prototype.subscribe = async function (wanted) {
    window.asked = wanted;
    return (window.made = { toJSON: () => (%s), unsubscribe: async () => true });
  };
"""


def test_a_notice_comes_while_no_page_is_open(visit: Visit, work: Work, site: Site) -> None:
    """The push service is the one part that is not real: a browser's own cannot be reached here."""
    page = visit(permissions=["notifications"])
    with FakePush() as service:
        told = {**service.told, "endpoint": "https://fcm.googleapis.com/fcm/send/abc"}
    page.add_init_script(SUBSCRIBED % json.dumps(told))
    page.goto(work.url("settings", section="appearance"))
    page.get_by_role("button", name="Turn them on").click()
    expect(page.get_by_text("On, also while no page is open.")).to_be_visible()
    assert page.evaluate("asked.applicationServerKey") == site.get("push")["key"]
    browser = page.context.new_cdp_session(page)
    registered: list[str] = []
    browser.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda seen: registered.extend(r["registrationId"] for r in seen["registrations"]),
    )
    browser.send("ServiceWorker.enable")
    until(lambda: bool(registered) or page.evaluate("1") != 1)
    notice = {"title": "🤖 Agent needs input", "body": "Which?", "tag": "n1", "url": "/tasks/t1"}

    def deliver(**more: object) -> None:
        data = json.dumps({**notice, **more})
        where = {"origin": site.address, "registrationId": registered[0]}
        browser.send("ServiceWorker.deliverPushMessage", {**where, "data": data})

    deliver()
    until(lambda: page.evaluate(SHOWN) == [["🤖 Agent needs input", "Which?"]])
    deliver(title="Answered", body="ada: JWT", instead=True)
    until(lambda: page.evaluate(SHOWN) == [["Answered", "ada: JWT"]])
    page.evaluate(f"{REGISTRATION}.then(async (r) => (await r.getNotifications())[0].close())")
    until(lambda: page.evaluate(SHOWN) == [])
    deliver(instead=True)
    deliver(tag="n2", title="Another")
    until(lambda: page.evaluate(SHOWN) == [["Another", "Which?"]])


REGISTRATION = "navigator.serviceWorker.ready"
SHOWN = f"""{REGISTRATION}.then(async (r) => {{
  const shown = await r.getNotifications();
  return shown.map((one) => [one.title, one.body]);
}})"""


NOTED = """
  delete window.PushManager;
  window.noted = [];
  const Real = Notification;
  window.Notification = class extends Real {
    constructor(title, more) { super(title, more); window.noted.push(title); }
  };
"""


def test_notices_of_the_browser_are_tested_and_sent(visit: Visit, work: Work) -> None:
    page = visit(permissions=["notifications"])
    page.add_init_script(NOTED)
    page.goto(work.url("settings", section="appearance"))
    page.get_by_role("button", name="Turn them on").click()
    page.get_by_role("button", name="Send a test").click()
    assert page.evaluate("noted") == ["This is how a notice looks"]
    page.evaluate("Object.defineProperty(document, 'hidden', { value: true })")
    work.task("Ask me", asks({"question": "Which?"}))
    until(lambda: page.evaluate("noted.length") == 2)
    assert page.evaluate("noted[1]") == "A task waits for you"


def test_the_record_says_who_decided_what(page: Page, work: Work) -> None:
    page.goto(work.url("settings", section="audit"))
    entries = page.get_by_role("list", name="Decisions")
    expect(entries.get_by_text("added project").first).to_be_visible()
    page.get_by_label("Name of the person or program").fill("nobody")
    expect(page.get_by_text("Nothing of this was decided")).to_be_visible()
    page.get_by_label("Name of the person or program").fill("")
    page.get_by_label("Kind").select_option("data")
    expect(page.get_by_text("Nothing of this was decided")).to_be_visible()
    page.get_by_label("Kind").select_option("project")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Export").click()
    assert saved.value.path().read_text().startswith("time,who,via,address,what,summary")
