"""Gradle: build.gradle or settings.gradle, with the wrapper of the repository if there is one."""

from agents_manager.checks.recognise.files import Folder
from agents_manager.checks.recognise.maven import JAVA, SUFFIXES
from agents_manager.checks.recognise.proposal import (
    Machine,
    MissingTool,
    Proposal,
    ProposedCheck,
    Source,
)

FILES = ("build.gradle.kts", "build.gradle", "settings.gradle.kts", "settings.gradle")
WRAPPER = "gradlew"


def propose(folder: Folder, machine: Machine) -> Proposal | None:
    file = folder.first(FILES)
    if file is None:
        return None
    wrapper = folder.has(WRAPPER)
    program = f"./{WRAPPER}" if wrapper else "gradle"
    missing = [] if machine.has("java") else [JAVA]
    if not wrapper and not machine.has("gradle"):
        missing.append(MissingTool("gradle", "Install Gradle with your package manager."))
    source = Source(folder.full_path(file))
    settings = [name for name in (*FILES, "gradle.lockfile") if folder.has(name)]
    return Proposal(
        ecosystem="Gradle",
        folder=folder.path,
        source=source,
        setup=(f"{program} --no-daemon testClasses",),
        setup_inputs=tuple(folder.full_path(name) for name in settings),
        checks=(ProposedCheck("test", f"{program} --no-daemon test", source),),
        build_output=("build", ".gradle"),
        suffixes=SUFFIXES,
        missing=tuple(missing),
    )
