"""Which tests stand for which rows of the threat model (A outcome, B paths, E web), and which
switch a measure off to see that what it holds back then passes. `test_rows` looks whether they
are there."""

MARKERS, CONTEXT = "tests/hostile/test_markers.py", "tests/unit/test_context.py"
PARSERS, GATE = "tests/hostile/test_parsers.py", "tests/api/test_gate.py"
BOUNDED = f"{PARSERS}::test_nothing_crashes_and_nothing_hangs"

ROWS: dict[str, tuple[str, ...]] = {
    "A2 a quoted marker before the real one": (
        f"{MARKERS}::test_a_marker_that_is_only_shown_is_never_taken",
        f"{MARKERS}::test_it_does_not_hide_the_real_one",
    ),
    "A3 a transcript that is cut behind a marker": (
        f"{MARKERS}::test_what_is_unsound_goes_back_to_the_agent",
        "tests/unit/test_codex_output.py::test_a_turn_without_an_end_is_no_success_whatever_the_exit_code",
    ),
    "A4 a marker in the output of a tool": (
        "tests/unit/test_codex_output.py::test_the_last_message_of_a_finished_turn_is_the_final_one",
        "tests/unit/test_claude_lines.py::test_a_good_end_has_the_final_text",
    ),
    "A5 two outcomes, or one that is not offered": (
        "tests/unit/test_outcome.py::test_two_different_blocks_are_refused_and_named",
        "tests/unit/test_outcome.py::test_an_outcome_the_graph_does_not_take_now",
    ),
    "A6 a review without an outcome": (
        "tests/integration/test_review_agent.py::test_a_review_without_a_verdict_approves_nothing",
    ),
    "A7 a title that closes its section": (
        f"{CONTEXT}::test_what_others_wrote_cannot_get_out_of_its_fence",
        f"{CONTEXT}::test_however_it_is_written_the_sections_are_as_many",
    ),
    "A8 a handoff that carries orders": (
        "tests/integration/test_handoffs.py::test_a_handoff_with_orders_changes_nothing_for_the_next",
    ),
    "A12 invisible characters": (
        f"{CONTEXT}::test_what_nobody_sees_is_shown",
        "tests/unit/test_render.py::test_control_characters_are_shown_instead_of_obeyed",
        "tests/web/test_inbox.py::test_what_agents_write_is_only_text",
    ),
    "B1 paths that lead elsewhere": (
        "tests/unit/test_document.py::test_a_path_stays_in_the_repository",
        "tests/api/test_ui.py::test_no_path_leads_elsewhere",
        BOUNDED,
    ),
    "B2 links": (
        BOUNDED,
        "tests/contract/test_workspaces_sync.py::test_lock_follows_no_link",
        "tests/contract/test_workspaces_sync.py::test_gitignore_that_is_a_link_is_not_followed",
    ),
    "B3 a link that is swapped in": (
        f"{PARSERS}::test_a_link_that_is_swapped_in_is_never_followed",
    ),
    "B4 pipes, devices, files of 10 GB": (BOUNDED,),
    "B5 hard links to files of the machine": (
        "tests/hostile/test_escapes.py::test_no_way_out_is_open",
    ),
    "B6 archives": (
        BOUNDED,
        f"{PARSERS}::test_without_its_bounds_more_archives_are_unpacked",
        "tests/e2e/test_cli_backup.py::test_damage_is_found_and_strangers_stay_outside",
    ),
    "B7 other spellings of .git": (
        "tests/hostile/test_clone_imports.py::test_malformed_trees",
        "tests/contract/test_workspaces_commits.py::test_names_that_could_be_a_git_folder_are_left_out",
    ),
    "B8 odd names of files": (
        "tests/contract/test_workspaces_commits.py::test_commit_all",
        "tests/e2e/test_cli_output.py::test_text_cannot_steer_the_terminal",
    ),
    "E1 other names of the server": (f"{GATE}::test_only_our_own_names_are_answered_to",),
    "E2 pages of others": (
        f"{GATE}::test_pages_of_others_are_refused",
        "tests/api/test_access.py::test_a_cookie_changes_something_only_from_our_pages",
        "tests/api/test_errors.py::test_only_json_is_taken",
    ),
    "E3 no token": (
        f"{GATE}::test_every_route_wants_a_token",
        "tests/api/test_run_keys.py::test_no_route_is_opened_by_a_key_of_a_run",
    ),
    "E4 WebSockets": ("tests/api/test_run_keys.py::test_no_websocket_is_accepted",),
    "E5 other addresses than loopback": ("tests/api/test_server.py::test_only_loopback_is_served",),
    "E6 active content": (
        "tests/web/test_inbox.py::test_what_agents_write_is_only_text",
        "tests/web/test_transcript.py::test_hostile_output_is_text",
        "tests/api/test_ui.py::test_every_answer_is_strict",
    ),
    "E7 escapes for the terminal": (
        "tests/unit/test_render.py::test_control_characters_are_shown_instead_of_obeyed",
        "tests/e2e/test_cli_output.py::test_text_cannot_steer_the_terminal",
        BOUNDED,
    ),
    "E8 Markdown that takes long": ("web/src/kit/heavy.test.ts::would take long",),
    "E13 floods and large bodies": (
        "tests/api/test_errors.py::test_too_much_is_refused_before_it_is_read",
        f"{GATE}::test_who_asks_too_fast_is_told_to_wait_and_nobody_else",
        "tests/api/test_run_keys.py::test_hostile_bodies_are_refused",
    ),
}

SWITCHED_OFF: dict[str, str] = {
    "the measures of the sandbox": (
        "tests/hostile/test_escapes.py::test_a_measure_that_is_off_leaves_its_ways_open"
    ),
    "clones that host git does not work in": (
        "tests/hostile/test_git_attacks.py"
        "::test_what_protects_is_that_the_agents_git_folder_is_not_worked_with"
    ),
    "strict markers": f"{MARKERS}::test_a_marker_that_is_only_shown_is_never_taken",
    "fences around what others wrote": (
        f"{CONTEXT}::test_without_a_fence_the_same_words_are_an_outcome"
    ),
    "the bound on the depth of JSON": f"{PARSERS}::test_without_the_bound_on_depth_json_falls_over",
    "the bound on the keys of JSON": (
        f"{PARSERS}::test_without_the_bound_on_keys_a_million_are_read"
    ),
    "the bounds of YAML": f"{PARSERS}::test_without_the_bounds_of_the_reader_yaml_falls_over",
    "the bounds of archives": f"{PARSERS}::test_without_its_bounds_more_archives_are_unpacked",
    "the bound of requests for permissions": (
        f"{PARSERS}::test_without_the_bound_a_long_request_would_be_read"
    ),
    "the redaction": "tests/hostile/test_secret_lists.py::test_what_is_not_known_is_not_hidden",
    "the rule of telling names": (
        "tests/hostile/test_secret_lists.py::test_without_the_rule_of_names_too_few_would_be_found"
    ),
    "the search in what leaves": (
        "tests/integration/test_leaks.py::test_without_the_search_it_would_leave"
    ),
    "the record of decisions": (
        "tests/api/test_audit.py::test_without_the_record_the_walk_notices"
    ),
    "that nobody changes the record": "tests/api/test_audit.py::test_nobody_changes_what_is_in_it",
    "the bound on refused log-ins": (
        "tests/api/test_audit.py::test_refused_logins_are_counted_and_bounded"
    ),
    "names and origins": "tests/api/test_switches.py::test_names_and_pages_of_others",
    "tokens": "tests/api/test_switches.py::test_tokens",
    "the keys of runs": (
        "tests/api/test_run_keys.py::test_without_the_gate_a_key_of_a_run_would_open_everything"
    ),
    "the bounds of bodies": "tests/api/test_switches.py::test_bodies",
    "the policy for pages": "tests/api/test_switches.py::test_strict_pages",
    "the pace of requests": "tests/api/test_switches.py::test_the_pace",
    "roles": "tests/api/test_switches.py::test_roles",
}
