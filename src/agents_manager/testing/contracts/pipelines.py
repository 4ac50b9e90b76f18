"""What guards, hooks and pipelines of a plugin are held to."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from agents_manager import built_in
from agents_manager.domain import lint, registry
from agents_manager.domain import pipeline as pipelines
from agents_manager.domain.guards import Facts, Fired, Guard
from agents_manager.domain.pipeline import Trigger, TriggerType
from agents_manager.domain.plugin import HookCall, HookFunction
from agents_manager.plugins import Additions

FACTS = Facts(fired=Fired(trigger=Trigger(type=TriggerType.MANUAL)))


class GuardContract:
    @pytest.fixture
    def guard(self) -> Guard:
        """To be overridden."""
        raise NotImplementedError

    @pytest.fixture
    def params(self) -> Mapping[str, Any]:
        """May be overridden, where it has to be told something."""
        return {}

    def test_it_answers_with_a_reason_whatever_the_facts_are(
        self, guard: Guard, params: Mapping[str, Any]
    ) -> None:
        facts = (FACTS, replace(FACTS, plan="A plan", branch="agent/one", checks_passed=True))
        for each in facts:
            passed, reason = guard(each, params)
            assert isinstance(passed, bool)
            assert isinstance(reason, str)
            assert reason
            assert guard(each, params) == (passed, reason), "it must not look elsewhere"


class HookContract:
    @pytest.fixture
    def hook(self) -> HookFunction:
        """To be overridden."""
        raise NotImplementedError

    @pytest.fixture
    def call(self) -> HookCall:
        """To be overridden: `agents_manager.testing.values.hook_call` makes one."""
        raise NotImplementedError

    @pytest.fixture
    def seen(self) -> Callable[[], object]:
        """To be overridden: what shows that it was done, compared by ==."""
        raise NotImplementedError

    def test_it_is_done_once_however_often_it_is_called(
        self, hook: HookFunction, call: HookCall, seen: Callable[[], object]
    ) -> None:
        before = seen()
        hook(call)
        done = seen()
        assert done != before, "nothing was done"
        hook(replace(call, attempt=2))
        assert seen() == done, "a crash may call it again with the same key"


class PipelineContract:
    @pytest.fixture
    def register(self) -> Callable[[Additions], None]:
        """To be overridden: the function that the entry point names."""
        raise NotImplementedError

    def test_its_pipelines_are_linted_without_a_word(
        self, register: Callable[[Additions], None]
    ) -> None:
        add = Additions(registry.built_in(), built_in.adapters(), "mine")
        register(add)
        assert add.added("pipelines"), "it registers none"
        for name in add.added("pipelines"):
            document = add.adapters.pipelines[name]
            assert lint.check(pipelines.parse(document), add.registry) == []
