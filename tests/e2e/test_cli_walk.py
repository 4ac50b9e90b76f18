"""The whole way of a task through the pipeline `feature`, by the command line alone."""

from pathlib import Path

from tests.e2e.am_program import Am, until

DESCRIPTION = """Greet whoever comes in.

```agent-script
plan:
- - ask:
      question: Which language?
      options: [{label: English, recommended: true}, {label: French}]
- - say: |
      # Plan
      1. Write `greet.txt`.
  - outcome: plan_complete
implement:
- - write: {path: greet.txt, text: "Bonjour\\n"}
  - commit: Greet
  - usage: {input_tokens: 10, output_tokens: 5, cost_usd: 0.25}
  - outcome: pr_ready
- - write: {path: greet.txt, text: "Bonjour !\\n"}
  - commit: Greet with a mark
  - outcome: pr_ready
```
"""
COMMENTS = "greet.txt:1: [must_fix] The mark is missing.\n[suggestion] Add a test\n  some day.\n"


def test_a_task_goes_from_creation_to_one_merge(tmp_path: Path) -> None:
    am = Am(tmp_path)
    am.make_repo()
    with am.quickly():
        _walk(am)


def _walk(am: Am) -> None:
    project = am.json("project", "add", ".", "--name", "shop")
    assert project["base_branch"] == "main"
    created = am("task", "create", "Greet people", "--description-file", "-", "--start", "--json",
                 "--tag", "door", "--criterion", "It says hello", input=DESCRIPTION)  # fmt: skip
    assert created.code == 0
    assert created.err == 'Recorded. Nothing will run until "am serve" is started.\n'
    task: str = am.json("task", "list")[0]["task"]["id"]

    with am.serving("serve", "--port", "0") as server:
        assert Path(server["token_file"]).read_text().strip()
        _answer_the_question(am, task)
        _approve_the_plan(am, task)
        _send_the_work_back(am, task)
        _approve_the_work(am, task)
    _look_back(am, task)


def _answer_the_question(am: Am, task: str) -> None:
    question = am.open_prompt(task)
    prompt = question["prompt"]["id"]
    page = am.text("prompt", "show", prompt[:8])
    assert "1) English (recommended)" in page
    assert f"am prompt answer {prompt[:8]} --accept" in page
    assert f"am prompt answer {prompt[:8]} --accept" in am.text("task", "show", task)
    answered = am("prompt", "answer", prompt, "--option", "2", "--json")
    assert (answered.code, answered.err) == (0, "")


def _approve_the_plan(am: Am, task: str) -> None:
    review = am.open_prompt(task)
    assert review["prompt"]["type"] == "document_review"
    assert "1. Write `greet.txt`." in am.text("prompt", "show", review["prompt"]["id"])
    assert f"am review {task[:8]} --approve" in am.text("task", "show", task[:8])
    assert am.json("review", task[:8], "--approve")["task"]["status"] == "in_progress"


def _send_the_work_back(am: Am, task: str) -> None:
    review = am.open_prompt(task)["prompt"]
    page = am.text("prompt", "show", review["id"])
    assert "greet.txt  1  0" in page
    assert "+Bonjour\n" in am.text("prompt", "show", review["id"], "--diff")
    back = am.json(
        "review", task, "--request-changes", "Nearly.", "--comments", "-", input=COMMENTS
    )
    assert [c["line"] for c in back["prompt"]["response"]["comments"]] == [1, None]
    again = until(lambda: _other(am, task, review["id"]))
    assert "Round 1, sent back by ada: Nearly." in am.text("prompt", "show", again)
    last = am.json("run", "list", "--task", task)[0]["id"]
    told = am.text("run", "show", last, "--prompt")
    assert "- [Must Fix] [Open] greet.txt:1 - ada: The mark is missing." in told
    assert "- [Suggestion] [Open] ada: Add a test\n  some day." in told
    assert "+Bonjour !" in am.text("run", "diff", last)
    assert "> commit" in am.text("run", "transcript", last)


def _other(am: Am, task: str, known: str) -> str | None:
    prompt = am.open_prompt(task)["prompt"]["id"]
    return prompt if prompt != known else None


def _approve_the_work(am: Am, task: str) -> None:
    am.text("review", task, "--approve")
    until(lambda: am.json("task", "show", task)["next_mover"]["kind"] == "finished")


def _look_back(am: Am, task: str) -> None:
    assert len(am.git("log", "--oneline", "--merges", "main").splitlines()) == 1
    assert am.git("show", "main:greet.txt") == "Bonjour !\n"
    view = am.json("task", "show", task)
    assert view["pull"]["state"] == "merged"
    costs = [run["cost_usd"] for run in view["runs"]]
    assert costs == [None, None, 0.25, None]
    page = am.text("task", "show", task)
    assert "$0.25" in page
    assert "unknown" in page
    assert "$0.00" not in page
    moves = [(h["source"], h["to"]) for h in am.json("task", "history", task)]
    assert moves[-1] == ("merging", "done")
    assert "ada asked for changes with 2 comments: Nearly." in am.text("task", "events", task)
    assert am("task", "cancel", task).code == 1
