"""Names for the identifiers that travel through the program."""

from typing import NewType

ProjectId = NewType("ProjectId", str)
TaskId = NewType("TaskId", str)
RunId = NewType("RunId", str)
PromptId = NewType("PromptId", str)
EffectId = NewType("EffectId", str)
HistoryId = NewType("HistoryId", str)
