"""Which instruction files of a repository apply to a task, and what they import."""

from agents_manager.domain import instructions


def test_agents_md_comes_before_claude_md_in_each_folder() -> None:
    paths = ["CLAUDE.md", "AGENTS.md", "web/CLAUDE.md", ".claude/CLAUDE.md", "api/AGENTS.md"]
    assert instructions.by_folder(paths) == {
        "": "AGENTS.md",
        "api": "api/AGENTS.md",
        "web": "web/CLAUDE.md",
    }


def test_the_hidden_claude_md_is_that_of_the_root_folder() -> None:
    assert instructions.by_folder([".claude/CLAUDE.md"]) == {"": ".claude/CLAUDE.md"}


def test_nested_files_apply_to_touched_paths_below_their_folder() -> None:
    files = {"": "AGENTS.md", "web": "web/AGENTS.md", "web/app": "web/app/AGENTS.md"}
    assert instructions.applicable(files, ["webs/x.ts"]) == ["AGENTS.md"]
    assert instructions.applicable(files, ["web/app"]) == [*files.values()]
    assert instructions.applicable(files, ["web/x.ts"]) == ["AGENTS.md", "web/AGENTS.md"]


def test_words_with_a_slash_are_paths() -> None:
    text = "See `web/app.ts`, ./api/ and /docs/a.md. Not web, ../up/x or https://x.org/y."
    found = instructions.mentioned_paths(text)
    assert found[:3] == ["web/app.ts", "api", "docs/a.md"]
    assert not any("up" in path for path in found)


def test_imports_are_relative_to_their_file_and_stay_in_the_repository() -> None:
    text = "\n".join(
        [
            "See @style.md, and @../README.md.",
            "@../../out.md @/etc/passwd @~/mine.md ann@example.org",
            "`@code.md` and ``@more `code`.md``",
            "```sh",
            "@fenced.md",
            "```",
            r"@with\ space.md",
        ]
    )
    assert instructions.imports(text, "docs/CLAUDE.md") == [
        "docs/style.md",
        "README.md",
        "docs/with space.md",
    ]
