"""One sound output of each stage, all of the same small task: a health check for a web service."""

from typing import Any

CRITERION = "GET /health answers 200 with the status"

OPTIMIZED_PROMPT = {"prompt": "Add GET /health that tells the status of the service as JSON."}
TASK_SPEC = {
    "summary": "A health check for the service.",
    "features": [
        {
            "id": "F1",
            "name": "Health check",
            "description": "An address that tells the status.",
            "acceptance_criteria": [CRITERION],
        },
        {
            "id": "F2",
            "name": "Documentation",
            "description": "The address is in the README.",
            "acceptance_criteria": ["The README names the address /health"],
        },
    ],
    "risks": ["The address may be taken."],
    "assumptions": ["No login is asked for."],
    "blockers": [],
    "next_stage": 1,
}
REPO_PROFILE = {
    "overview": {"name": "shop", "type": "service", "language": "Python", "framework": "FastAPI"},
    "tree": "app.py\ntests/test_app.py\nREADME.md",
    "stack": {
        "dependencies": [{"name": "fastapi", "version": "0.120", "purpose": "the web service"}],
        "build_tools": ["pip"],
        "testing": {"framework": "pytest", "command": "pytest -q"},
    },
    "conventions": {"naming": "snake_case", "imports": "absolute", "errors": "", "docs": ""},
    "test_conventions": "One file a module.",
    "feature_files": [{"feature": "F1", "existing": ["app.py"], "tests": ["tests/test_app.py"]}],
    "commands": {
        "install": {"command": "pip install -r requirements.txt", "verified": True},
        "test": {"command": "pytest -q", "verified": True},
    },
    "notes": "",
}
IMPLEMENTATION_PLAN = {
    "batches": [
        {
            "number": 1,
            "features": [
                {
                    "id": "F1",
                    "complexity": "low",
                    "modify": ["app.py"],
                    "tests": [{"path": "tests/test_app.py", "description": "asks for /health"}],
                    "notes": "",
                }
            ],
        },
        {"number": 2, "features": [{"id": "F2", "modify": ["README.md"]}]},
    ],
    "criteria": {"before": ["The tests pass"], "after": ["The tests pass"]},
}
DOCS_RESEARCH_OUTPUT = {
    "queries": ["FastAPI health check"],
    "findings": [
        {
            "source": "docs/fastapi.md",
            "topic": "Routes",
            "content": "A route is a decorated function.",
            "relevance": "The health check is one.",
        }
    ],
    "api_patterns": ["@app.get('/health')"],
}
PRE_FLIGHT_CHECK = {
    "environment": [{"check": "Python is there", "status": "PASS", "details": "3.12"}],
    "dependencies": [{"check": "fastapi is installed", "status": "PASS"}],
    "file_system": [{"check": "app.py can be written", "status": "WARN", "details": "it is long"}],
    "plan_consistency": [{"check": "every feature has a batch", "status": "PASS"}],
    "status": "WARN",
    "warnings": ["app.py is long"],
}
BUILD_REPORT = {
    "agent": "build-agent-1",
    "features": [{"id": "F1", "status": "COMPLETE", "notes": ""}],
    "files_modified": ["app.py"],
    "changes": [{"id": "C1", "file": "app.py", "description": "The route /health."}],
    "tests": ["tests/test_app.py"],
}
TEST_WRITING_REPORT = {
    "files": [
        {
            **{"path": "tests/test_app.py", "action": "modified", "target": "app.py"},
            **{"count": 2, "framework": "pytest"},
        }
    ],
    "criteria": [
        {
            **{"feature": "F1", "criterion": CRITERION, "status": "COVERED"},
            "covered_by": ["test_health"],
        }
    ],
    "gaps": [],
    "placeholders": {"checked": 2, "found": 0, "violations": []},
}
DEBUG_REPORT = {
    "errors": [
        {
            **{"error": "KeyError: status", "location": "app.py:12"},
            **{"root_cause": "The status is not set at the start.", "fix": "Set it."},
        }
    ],
    "fixes": [{"id": "D1", "file": "app.py", "description": "The status is set at the start."}],
    "verification": {"status": "FIXED", "confidence": "high"},
}
LOGIC_VERIFICATION = {
    "checks": [{"kind": "off by one", "file": "app.py", "result": "none"}],
    "issues": [
        {
            **{"severity": "MINOR", "kind": "naming", "file": "app.py"},
            **{"analysis": "s is short", "impact": "none", "fix": "call it status"},
        }
    ],
    "status": "PASS",
    "counts": {"critical": 0, "major": 0, "minor": 1},
}
TEST_REPORT = {
    **{"status": "PASS", "total": 12, "passed": 11, "failed": 0, "skipped": 1},
    **{"coverage": 91.5, "lint": "clean"},
}
INTEGRATION_TEST_REPORT = {
    "suites": [{"name": "api", "status": "PASS", "total": 3}],
    "pairs": [{"a": "app", "b": "client", "status": "PASS", "notes": ""}],
    "contracts": [
        {
            **{"endpoint": "/health", "method": "GET", "expected": "200", "actual": "200"},
            "status": "PASS",
        }
    ],
}
REVIEW_REPORT = {
    "criteria": [
        {"feature": "F1", "criterion": CRITERION, "verdict": "MET", "evidence": "app.py:10"},
        {
            **{"feature": "F2", "criterion": "The README names the address /health"},
            **{"verdict": "MET", "evidence": "README.md:3"},
        },
    ],
    "issues": [{"severity": "MINOR", "description": "A name is short.", "location": "app.py:10"}],
    "status": "PASS",
    "counts": {"blocker": 0, "major": 0, "minor": 1},
}
DECISION = {
    "decision": "COMPLETE",
    "justification": "All criteria are met.",
    "evidence": {"tests": "11 of 12", "review": "PASS", "criteria": "2 of 2", "changes": "app.py"},
}
SAMPLES: dict[str, dict[str, Any]] = {
    "optimized_prompt": OPTIMIZED_PROMPT,
    "task_spec": TASK_SPEC,
    "repo_profile": REPO_PROFILE,
    "implementation_plan": IMPLEMENTATION_PLAN,
    "docs_research_output": DOCS_RESEARCH_OUTPUT,
    "pre_flight_check": PRE_FLIGHT_CHECK,
    "build_report": BUILD_REPORT,
    "test_writing_report": TEST_WRITING_REPORT,
    "debug_report": DEBUG_REPORT,
    "logic_verification": LOGIC_VERIFICATION,
    "test_report": TEST_REPORT,
    "integration_test_report": INTEGRATION_TEST_REPORT,
    "review_report": REVIEW_REPORT,
    "decision": DECISION,
}
