"""Maven: pom.xml, with the wrapper of the repository if there is one."""

from agents_manager.checks.recognise.files import Folder
from agents_manager.checks.recognise.proposal import (
    Machine,
    MissingTool,
    Proposal,
    ProposedCheck,
    Source,
)

FILE, WRAPPER = "pom.xml", "mvnw"
SUFFIXES = (".java", ".kt", ".scala", ".groovy")
JAVA = MissingTool("java", "Install a JDK, for example with your package manager.")


def propose(folder: Folder, machine: Machine) -> Proposal | None:
    if not folder.has(FILE):
        return None
    wrapper = folder.has(WRAPPER)
    program = f"./{WRAPPER}" if wrapper else "mvn"
    missing = [] if machine.has("java") else [JAVA]
    if not wrapper and not machine.has("mvn"):
        missing.append(MissingTool("mvn", "Install Maven with your package manager."))
    line = folder.line_of(FILE, "<artifactId>")
    return Proposal(
        ecosystem="Maven",
        folder=folder.path,
        source=Source(folder.full_path(FILE)),
        setup=(f"{program} -B -ntp dependency:go-offline",),
        setup_inputs=(folder.full_path(FILE),),
        checks=(
            ProposedCheck("test", f"{program} -B -ntp test", Source(folder.full_path(FILE), line)),
        ),
        build_output=("target",),
        suffixes=SUFFIXES,
        missing=tuple(missing),
    )
