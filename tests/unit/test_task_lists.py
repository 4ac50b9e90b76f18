"""Lists of tasks as people write them, in Markdown and in CSV."""

from textwrap import dedent
from typing import Any

import pytest

from agents_manager.domain import task_list_csv, task_list_markdown
from agents_manager.domain.task_list import Entry, Listed, circle

NOTES = """\
# Release

Some prose, and - [ ] no task in it.

- [ ] Paint the door
  Blue, if there is any.

  - both sides
  - not the handle
- [x] Buy paint
  Gone with it.
* [ ] Hang it
wrapped without blanks

## Web app

1. [ ] Search
   - [ ] Index
     ```
     - [ ] code, no task
     ```
   - [X] Form
     - [ ] Form of phones
   By tag.
- a plain item
- [ ] Log in

    - [ ] Remember me

### A heading that is much too long to be a tag, whoever reads it

- [ ] Last

```
- [ ] also code
```
"""


def markdown(text: str) -> list[tuple[str, dict[str, Any], tuple[int, ...]]]:
    listed = task_list_markdown.read(text)
    assert not listed.faults
    return [(e.place, dict(e.words), e.needs) for e in listed.entries]


def test_a_markdown_list_is_read() -> None:
    read = {words["title"]: (place, words, needs) for place, words, needs in markdown(NOTES)}
    assert list(read) == [
        *("Paint the door", "Hang it", "Search", "Index", "Form of phones", "Log in"),
        *("Remember me", "Last"),
    ]
    place, words, _ = read["Paint the door"]
    assert place == "line 5"
    assert words["description"] == "Blue, if there is any.\n\n- both sides\n- not the handle"
    assert words["tags"] == []
    assert read["Hang it"][1]["description"] == "wrapped without blanks"
    assert read["Search"][1] == {"title": "Search", "description": "By tag.", "tags": ["Web app"]}
    assert read["Search"][2] == (3, 4), "of what is checked off, what is nested in it"
    assert read["Index"][1]["description"] == "```\n- [ ] code, no task\n```"
    assert read["Log in"][2] == (6,)
    assert read["Last"][1]["tags"] == ["Web app"]
    assert task_list_markdown.read(NOTES).skipped == 2


def test_markdown_is_read_however_its_lines_end() -> None:
    for text in ("- [ ] A\r\n\ttext\r\n- [ ] B", "\ufeff- [ ] A\n  text\n- [ ] B\n"):
        assert [(p, w["description"]) for p, w, _ in markdown(text)] == [
            ("line 1", "text"),
            ("line 3", ""),
        ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "there is no task in it"),
        ("- a plain list", 'a task is a line like "- [ ] Title" line 1: "a plain list" has no box'),
        ("    - [ ] code", "there is no task in it"),
        ("- [ ] A\n\n```\n- [ ] B\n", "line 3: the block of code that begins here has no end"),
    ],
)
def test_markdown_without_tasks_says_so(text: str, fault: str) -> None:
    assert fault in " ".join(task_list_markdown.read(text).faults)


SHEET = """\
Title,Description,Priority,Tags,Depends on,Pipeline
Door,"Blue,
both ""sides\""",high,"ui; Front",,
,,,,,

Frame,,,,door; 1a2b3c4d,simple
"""


def test_bullets_that_are_not_tasks_are_listed() -> None:
    text = """\
    - a bullet
    - [ ] Paint
      - part of its description
    * * *
    1. a number
        - [ ] under a bullet, so no task
    - []
    """
    listed = task_list_markdown.read(dedent(text))
    assert [entry.title for entry in listed.entries] == ["Paint"]
    assert [(one.place, one.text) for one in listed.left_out] == [
        ("line 1", "a bullet"),
        ("line 5", "a number"),
        ("line 6", "[ ] under a bullet, so no task"),
        ("line 7", "[]"),
    ]


def test_a_csv_list_is_read() -> None:
    assert task_list_csv.read("\ufeff" + SHEET) == Listed(
        entries=[
            Entry(
                place="line 2",
                words={
                    "title": "Door",
                    "description": 'Blue,\nboth "sides"',
                    "priority": "high",
                    "tags": ["ui", " Front"],
                },
            ),
            Entry(
                place="line 6",
                words={"title": "Frame"},
                pipeline="simple",
                needs=(0,),
                waits_for=("1a2b3c4d",),
            ),
        ],
        faults=[],
    )


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("", ["line 1: the header names no column title; it may name title, description"]),
        ("title\n", ["there is no task in it, only the header"]),
        ("titel,size\nA,small\n", ["no column title", '"titel". Did you mean "title"?']),
        ("title,owner\n", ['line 1: there is no column "owner". There is: title,']),
        ("title,title\n", ['line 1: the column "title" stands there twice']),
        ("title;size\nA;small\n", ["line 1: the columns are separated by something else"]),
        ("title,size\nA\nB,small,x\n", ["line 2: it has 1 cells", "line 3: it has 3 cells"]),
        ('title\nA\n"B\nC\n', ["line 3: a quoted cell is not closed"]),
        ('title\nA\n"B"x\n', ["line 3: "]),
        ("title,depends_on\nA,\nA,\nB,a\n", ['line 4: depends_on: "a" is the title of several']),
    ],
)
def test_wrong_csv_is_named_by_line(text: str, faults: list[str]) -> None:
    told = task_list_csv.read(text).faults
    assert len(told) == len(faults)
    assert all(fault in one for fault, one in zip(faults, told, strict=True))


@pytest.mark.parametrize(
    ("needs", "way"),
    [
        ([(1,), (2,), ()], []),
        ([(1, 2), (2,), ()], []),
        ([(0,)], [0, 0]),
        ([(), (2,), (3,), (1,)], [1, 2, 3, 1]),
    ],
)
def test_a_circle_is_found(needs: list[tuple[int, ...]], way: list[int]) -> None:
    entries = [Entry(place=str(n), words={}, needs=each) for n, each in enumerate(needs)]
    assert [int(entry.place) for entry in circle(entries)] == way


def test_a_long_chain_is_no_circle() -> None:
    entries = [Entry(place="", words={}, needs=(n + 1,)) for n in range(999)]
    assert circle([*entries, Entry(place="", words={})]) == []


def test_indented_text_keeps_its_own_blanks() -> None:
    text = dedent("""\
        - [ ] A
            first
              deeper
          less
        """)
    assert markdown(text)[0][1]["description"] == "first\n  deeper\nless"
