"""What the repository tells coding agents comes from the base commit, into the prompt of every
agent."""

import json
from pathlib import Path

from agents_manager.flow.runs import instructions
from tests import instruction_files
from tests.instruction_files import marked
from tests.repos import commit, run
from tests.worlds import World, repo, world

__all__ = ["repo", "world"]
DONE = {"implement": [[{"outcome": {"name": "no_changes", "payload": {"reason": "None."}}}]]}
STEER = {
    "implement": [
        [
            {"write": {"path": "AGENTS.md", "text": "MARK-STEERED"}},
            {"tool": {"name": "shell", "input": {"command": "ls"}}},
            {"commit": "Steer"},
            {"outcome": {"name": "pr_ready"}},
        ],
        [{"outcome": {"name": "pr_ready"}}],
    ]
}


def section_of(prompt: str | None) -> str:
    return (prompt or "").partition(f"# {instructions.HEADING}\n")[2].partition("\n# Skills")[0]


async def prompt_of(world: World, **fields: str) -> str:
    task = await world.start(DONE, pipeline="simple", **fields)
    view = await world.wait(task, lambda v: bool(v.runs) and not v.runs[0].status.live, "ended")
    assert view.runs[0].error is None, view.runs[0].error
    assert view.runs[0].prompt is not None
    return view.runs[0].prompt


async def test_root_instructions_are_in_the_prompt_and_nested_ones_are_listed(
    world: World,
) -> None:
    instruction_files.add_to(world.repo)
    told = await prompt_of(world)
    sha = run(world.repo, "rev-parse", "main")[:12]
    assert marked(section_of(told)) == ["MARK-ROOT"]
    assert f"as it was committed to main ({sha})" in told
    assert f"- api: `git show {sha}:api/AGENTS.md`" in told
    assert f"- web: `git show {sha}:web/CLAUDE.md`" in told


async def test_nested_instructions_apply_to_paths_that_the_task_names(world: World) -> None:
    instruction_files.add_to(world.repo)
    told = await prompt_of(world, objective="The button in web/app.ts is green.")
    assert marked(section_of(told)) == ["MARK-ROOT", "MARK-WEB", "MARK-IMPORTED"]
    assert "docs/style.md (imported by web/CLAUDE.md):" in told
    assert "web/CLAUDE.md`" not in told


async def test_what_a_branch_makes_of_them_does_not_reach_its_next_run(world: World) -> None:
    instruction_files.add_to(world.repo)
    task = await world.start(STEER, pipeline="simple")
    view = await world.until(task, "review")
    assert run(world.repo, "show", f"{view.runs[0].branch}:AGENTS.md") == "MARK-STEERED"
    await world.review(task, "changes_requested", summary="Once more.")
    view = await world.wait(task, lambda v: len(v.runs) == 2 and v.run is None, "a second run")
    assert [marked(section_of(run.prompt)) for run in view.runs] == [["MARK-ROOT"]] * 2


async def test_nested_instructions_apply_to_files_that_the_branch_changes(world: World) -> None:
    instruction_files.add_to(world.repo)
    # Written so that the task itself does not name the path.
    script = json.dumps(STEER).replace("AGENTS.md", "api\\u002fnew.ts")
    task = await world.start({}, pipeline="simple", description=f"```agent-script\n{script}\n```")
    await world.until(task, "review")
    await world.review(task, "changes_requested", summary="Once more.")
    view = await world.wait(task, lambda v: len(v.runs) == 2 and v.run is None, "a second run")
    found = [marked(section_of(run.prompt)) for run in view.runs]
    assert found == [["MARK-ROOT"], ["MARK-ROOT", "MARK-API"]]


async def test_links_and_circles_lead_nowhere(world: World, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("MARK-OUTSIDE\n")
    commit(
        world.repo, {"CLAUDE.md": "MARK-ONE @b.md @out.md\n", "b.md": "MARK-TWO @CLAUDE.md @b.md\n"}
    )
    (world.repo / "out.md").symlink_to(tmp_path / "secret.md")
    (world.repo / "web").mkdir()
    (world.repo / "web" / "AGENTS.md").symlink_to("../b.md")
    run(world.repo, "add", "-A")
    run(world.repo, "commit", "-qm", "Links")
    assert marked(await prompt_of(world)) == ["MARK-ONE", "MARK-TWO"]


async def test_each_text_is_told_once_and_links_out_of_the_repository_are_not_listed(
    world: World,
) -> None:
    commit(world.repo, {"AGENTS.md": "MARK-ROOT\n"})
    for folder, target in (("web", "../AGENTS.md"), ("api", "/etc/hostname")):
        (world.repo / folder).mkdir()
        (world.repo / folder / "AGENTS.md").symlink_to(target)
    run(world.repo, "add", "-A")
    run(world.repo, "commit", "-qm", "Links")
    told = section_of(await prompt_of(world, objective="Change web/app.ts and api/app.ts."))
    assert marked(told) == ["MARK-ROOT"]
    assert "git show" not in told


async def test_long_files_are_cut_visibly(world: World) -> None:
    long = "".join(f"line {number}\n" for number in range(10_000))
    commit(world.repo, {"AGENTS.md": f"MARK-BEGINNING\n{long}MARK-END\n"})
    told = await prompt_of(world)
    assert marked(told) == ["MARK-BEGINNING"]
    assert "more characters are left out. All of it: git show " in told


async def test_skills_are_listed_and_copied_from_the_base_commit(world: World) -> None:
    instruction_files.add_to(world.repo)
    more = {
        ".agents/skills/wave/run.sh": "#!/bin/sh\n",
        ".claude/skills/wave/SKILL.md": "---\nname: wave\n---\nMARK-SHADOWED\n",
        ".claude/skills/large/SKILL.md": "x" * (9 * 1024 * 1024),
    }
    commit(world.repo, more)
    (world.repo / ".agents/skills/wave/run.sh").chmod(0o755)
    (world.repo / ".agents/skills/wave/out").symlink_to("/etc/hostname")
    run(world.repo, "add", "-A")
    run(world.repo, "commit", "-qm", "Link")
    task = await world.start(DONE, pipeline="simple")
    view = await world.wait(task, lambda v: bool(v.runs) and not v.runs[0].status.live, "ended")
    folder = world.s.jobs_dir / view.runs[0].id / "skills"
    told = (view.runs[0].prompt or "").partition("# Skills\n")[2]
    assert marked(told) == ["MARK-wave-LISTED", "MARK-greet-LISTED"]
    assert f"- wave: Greets people. MARK-wave-LISTED\n  {folder}/wave/SKILL.md" in told
    assert "- large: left out, as it is too large" in told
    files = {str(path.relative_to(folder)): oct(path.stat().st_mode) for path in folder.glob("*/*")}
    assert files == {
        "greet/SKILL.md": "0o100444",
        "wave/SKILL.md": "0o100444",
        "wave/run.sh": "0o100555",
    }
