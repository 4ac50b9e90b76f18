// From openapi.json ea41291c811b99f34525588d5d5ac984a1e85aed8ba794584ee659b48cfe3071; write it again with: npm run api
export interface paths {
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Health
         * @description Answers as long as the server does; open to everybody, and tells nothing else.
         */
        get: operations["get_health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Readiness
         * @description Answers with 503 while the database, the engine or the files of the web app are missing; open
         *     to everybody, and tells nothing else. `/api/v1/health` says what is missing.
         */
        get: operations["get_readiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Metrics
         * @description Figures in the text form of Prometheus. Without a token only where `metrics.open` says so.
         */
        get: operations["get_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log In
         * @description Opens a session with a token, or with the code of a login link, which works once. The session
         *     is a cookie that no page can read; it ends after 30 days, or with its token.
         */
        post: operations["log_in"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log Out
         * @description Ends the session.
         */
        post: operations["log_out"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Projects
         * @description Every registered project.
         */
        get: operations["list_projects"];
        put?: never;
        /**
         * Add Project
         * @description Registers a git repository; its commands, as they stand now, may run from then on.
         */
        post: operations["add_project"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Project
         * @description One project, by its id or name.
         */
        get: operations["get_project"];
        put?: never;
        post?: never;
        /**
         * Remove Project
         * @description Forgets a project; its repository is left as it is. Refused while it has tasks, unless
         *     forced, and while an agent works at one, unless it is to be stopped first.
         */
        delete: operations["remove_project"];
        options?: never;
        head?: never;
        /**
         * Change Project
         * @description Says where machines that lack a project clone it from.
         */
        patch: operations["change_project"];
        trace?: never;
    };
    "/api/v1/projects/{project_id}/forge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Forge
         * @description Which forge a project uses, and why this server cannot use it, such as a missing token.
         */
        get: operations["get_forge"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project_id}/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Settings
         * @description Every setting in effect for a project, and the layer, file and line it comes from.
         */
        get: operations["list_settings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change Settings
         * @description Changes the project's own file, whole or not at all. Commands that are new or different run
         *     only once they are trusted.
         */
        patch: operations["change_settings"];
        trace?: never;
    };
    "/api/v1/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change User Settings
         * @description Changes the user's file, which holds for all projects, whole or not at all.
         */
        patch: operations["change_user_settings"];
        trace?: never;
    };
    "/api/v1/projects/{project_id}/trust": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Trust Project
         * @description Allows the project's commands as they stand now.
         */
        post: operations["trust_project"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project_id}/consent": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give Consent
         * @description Allows agents to work at the project without a sandbox, with the rights of the server.
         */
        post: operations["give_consent"];
        /**
         * Withdraw Consent
         * @description Allows it no longer; a turn that has begun is not stopped.
         */
        delete: operations["withdraw_consent"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pipelines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Pipelines
         * @description The newest version of every pipeline; a project's own has `@` and the project in its id.
         */
        get: operations["list_pipelines"];
        put?: never;
        /**
         * Add Pipeline
         * @description Saves a pipeline for all projects, as the next version of its id.
         */
        post: operations["add_pipeline"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pipelines/{pipeline_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Pipeline
         * @description A pipeline in one of its versions, the newest unless one is named.
         */
        get: operations["get_pipeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pipelines/{pipeline_id}/counts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Pipeline Counts
         * @description How many tasks are in each status now, how long tasks were there, and which transitions they
         *     took.
         */
        get: operations["get_pipeline_counts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pipelines/{pipeline_id}/document": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Pipeline Document
         * @description A version as it was saved, the newest unless one is named.
         */
        get: operations["get_pipeline_document"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pipelines/{pipeline_id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Pipeline Versions
         * @description Every version of a pipeline, the newest first.
         */
        get: operations["list_pipeline_versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pipelines/{pipeline_id}/migrate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Migrate Tasks
         * @description Where tasks on older versions would stand; with `apply` they are taken there, all or none.
         */
        post: operations["migrate_tasks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project_id}/pipelines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Project Pipelines
         * @description The pipeline files of a project, read now, and what came of each.
         */
        get: operations["list_project_pipelines"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pipelines/lint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Lint Pipeline
         * @description Every finding with its place and the way out. Saving refuses what has errors.
         */
        post: operations["lint_pipeline"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pipelines/simulate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Simulate Pipeline
         * @description Walks it by a script of outcomes and answers, and tells each decision. Nothing is started.
         */
        post: operations["simulate_pipeline"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/parts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Parts
         * @description The guards, hooks and outcomes that a pipeline may name, with what each takes, and the ids
         *     that are taken by pipelines that come with the product.
         */
        get: operations["list_parts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Plugins
         * @description Every plugin with what it registers, or why it is not used.
         */
        get: operations["list_plugins"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/board": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Board
         * @description Columns from the pipelines in use, and a card for every task that is not finished and for the
         *     200 finished ones that changed last.
         */
        get: operations["get_board"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Channels
         * @description Each with its settings, how much waits, and who wrote there and is not known.
         */
        get: operations["list_channels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/channels/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Channel
         * @description One of them: telegram, slack, desktop, webhook or push.
         */
        get: operations["get_channel"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/channels/{name}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send Channel Test
         * @description Sends a message to every place of the channel now, whether it is on or not.
         */
        post: operations["send_channel_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/channels/{name}/people/{person}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Allow Person
         * @description Lets somebody in by their id on the platform; written into the user's file.
         */
        put: operations["allow_person"];
        post?: never;
        /**
         * Deny Person
         * @description Takes somebody off the list; what they press or write does nothing from then on.
         */
        delete: operations["deny_person"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Tasks
         * @description Tasks, newest first; `next` is the cursor of the page that follows.
         */
        get: operations["list_tasks"];
        put?: never;
        /**
         * Create Task
         * @description A new task, at the first status of its pipeline.
         */
        post: operations["create_task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Task
         * @description A task with all that is to be seen of it: who moves next, prompts, runs, possible moves.
         */
        get: operations["get_task"];
        put?: never;
        post?: never;
        /**
         * Delete Task
         * @description Deletes a task and its record for ever; branches, commits and snapshots stay. Refused while
         *     a run goes on, unless it is to be stopped first, and, unless forced, while other tasks depend
         *     on it.
         */
        delete: operations["delete_task"];
        options?: never;
        head?: never;
        /**
         * Edit Task
         * @description Changes the words of a task, also while an agent works at it; lists are replaced as a whole.
         *     The task gets a new version and keeps its pipeline.
         */
        patch: operations["edit_task"];
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start Task
         * @description Makes the only move by hand that does not end the task. If its dependencies are open, the
         *     engine makes it when they are finished; `PUT /tasks/{task_id}/start-time` cancels that.
         */
        post: operations["start_task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move Task
         * @description A move by hand. One that closes a task with unmerged commits is answered with 409 and the
         *     list of them, unless `leave_unmerged` is true; the tasks that depend on it then keep waiting,
         *     unless `release_dependents` is true too.
         */
        post: operations["move_task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/targets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Targets
         * @description Every status of the task's pipeline: whether it can be moved there by hand now, and why
         *     not.
         */
        get: operations["list_targets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Changes
         * @description The files that the task's work changes, in all or since a review, with the reviews; what was
         *     said about them is among the task's comments.
         */
        get: operations["get_changes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/changes/file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Changed File
         * @description What became of one file, and its text before and after.
         */
        get: operations["get_changed_file"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/grant": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Grant Rounds
         * @description Lets the capped rounds of a task begin anew.
         */
        post: operations["grant_rounds"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/review": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Review Task
         * @description Answers the review that the task waits for.
         */
        post: operations["review_task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List History
         * @description Every attempt to move the task, done or refused.
         */
        get: operations["list_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/path": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Path
         * @description The statuses that the task went through, how long it was in each, and by whom it left.
         */
        get: operations["get_path"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Events
         * @description The task's log after a sequence number.
         */
        get: operations["list_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Diff
         * @description What the task's branch changes, as a unified diff.
         */
        get: operations["get_diff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get File
         * @description The task as a Markdown file that the import takes: its words, its log and its last
         *     handoff.
         */
        get: operations["get_file"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import Tasks
         * @description Makes the tasks of a list, all of them or none, and none twice. They are started only on
         *     request.
         */
        post: operations["import_tasks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/import/github": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import Issues
         * @description Makes tasks of issues on GitHub, all of them or none, and none twice. They are started only
         *     on request, and nothing is written there.
         */
        post: operations["import_issues"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start Tasks
         * @description Starts the named tasks, or all tasks of a project that nobody has started. Each is started
         *     separately: one that is refused does not stop the others.
         */
        post: operations["start_tasks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/start-time": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set Start Time
         * @description Has the engine start a task at a time, at another than before, or not at all.
         */
        put: operations["set_start_time"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/why": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain Task
         * @description Why the task is where it is and what it waits for, in one paragraph.
         */
        get: operations["explain_task"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start Run
         * @description Starts the agent of a task again where it stands, for instance in another mode. Refused
         *     while a run goes on, and where no agent works.
         */
        post: operations["start_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/retry-hook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry Hook
         * @description Performs a failed effect of the task once more; refused when the task went on since.
         */
        post: operations["retry_hook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/skipped-checks/{check}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Restore Check
         * @description Has a check that is skipped for the task run again, from its next run on.
         */
        delete: operations["restore_check"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/race": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Race
         * @description The last race of a task, contender by contender.
         */
        get: operations["get_race"];
        put?: never;
        /**
         * Start Race
         * @description Has several agents implement the task, each in a workspace of its own; starts it where it
         *     waits for that. Where something comes before, such as a plan, they begin after it.
         */
        post: operations["start_race"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/race/{run_id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Contenders Diff
         * @description What a contender changed, as a unified diff.
         */
        get: operations["get_contenders_diff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/race/pick": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pick Contender
         * @description Takes the work of a contender: in answer to the question, or in place of the one that was
         *     picked, while its review is waited for.
         */
        post: operations["pick_contender"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/phases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Phases
         * @description The phases in their order; none when the task was not split.
         */
        get: operations["list_phases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/phases/{number}/skip": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Skip Phase
         * @description Leaves out a phase that has not been begun.
         */
        post: operations["skip_phase"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/phases/order": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reorder Phases
         * @description Puts the phases that have not been begun into another order.
         */
        post: operations["reorder_phases"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Schedules
         * @description All schedules, or those of a project; also those that are paused, halted or over.
         */
        get: operations["list_schedules"];
        put?: never;
        /**
         * Add Schedule
         * @description A schedule that begins with the next time of its rule. Its tasks are only created unless
         *     `start` is said.
         */
        post: operations["add_schedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Preview Rule
         * @description When a rule would fire; what is wrong with it where it is none.
         */
        get: operations["preview_rule"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Schedule
         * @description A schedule by its id or name, with the times that come and what came of the last ones.
         */
        get: operations["get_schedule"];
        put?: never;
        post?: never;
        /**
         * Remove Schedule
         * @description Removes a schedule; the tasks that it made stay.
         */
        delete: operations["remove_schedule"];
        options?: never;
        head?: never;
        /**
         * Edit Schedule
         * @description Changes what is given. Periods that it had already, it does not have again.
         */
        patch: operations["edit_schedule"];
        trace?: never;
    };
    "/api/v1/schedules/{schedule_id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause Schedule
         * @description Makes no task until it is resumed.
         */
        post: operations["pause_schedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule_id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume Schedule
         * @description Goes on with the next time of its rule; what was missed is not made up for.
         */
        post: operations["resume_schedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule_id}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run Schedule
         * @description Makes a task out of turn.
         */
        post: operations["run_schedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/comments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Comments
         * @description Comments on the task, on its pull requests and in reviews of its work, oldest first; each
         *     with the answers to it, and where its code is in the change as it is now.
         */
        get: operations["list_comments"];
        put?: never;
        /**
         * Add Comment
         * @description Comments on the open pull request of the task, else on the task itself. Nothing is moved or
         *     started by it; the agent of the next run is told.
         */
        post: operations["add_comment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/comments/{number}/answers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer Comment
         * @description Adds an answer under a comment. The agent of the next run is told.
         */
        post: operations["answer_comment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/comments/{number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Resolve Comment
         * @description Says that a comment is dealt with, or that it is not after all.
         */
        patch: operations["resolve_comment"];
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/context": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Context
         * @description The PipelineContext of a staged task, computed from what happened: the request, the outputs
         *     of the stages, loop-backs, retries and metadata; as a document and as Markdown. Beside it stands
         *     how far each stage is, with its runs, and what ran again for whom.
         */
        get: operations["show_context"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/context/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Given
         * @description What the agent of a run was given of what the others said, and how much that is.
         */
        get: operations["show_given"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/knowledge/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search Knowledge
         * @description What is known and fits all that is asked: words, tags, kinds, files and states; by words the
         *     best first, else the newest first. `next` is the cursor of the page that follows.
         */
        get: operations["search_knowledge"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/knowledge/tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Tags
         * @description Every tag, and how much that is known has it; the most frequent first.
         */
        get: operations["list_tags"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/knowledge/nodes/{node_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Knowledge
         * @description One, with where it comes from and what it hangs together with.
         */
        get: operations["get_knowledge"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Edit Knowledge
         * @description Changes its words, tags, severity or details; what is left out stays as it is. What was said
         *     before stays with those who said it.
         */
        patch: operations["edit_knowledge"];
        trace?: never;
    };
    "/api/v1/knowledge/nodes/{node_id}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm Knowledge
         * @description Says that it holds now, also where its file has changed or another says otherwise.
         */
        post: operations["confirm_knowledge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/knowledge/nodes/{node_id}/retire": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retire Knowledge
         * @description Says that it holds no longer: agents are not told it any more. It stays on record.
         */
        post: operations["retire_knowledge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/knowledge/nodes/{node_id}/contradict": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Contradict Knowledge
         * @description Says that another node says otherwise, until somebody says which of the two holds.
         */
        post: operations["contradict_knowledge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project_id}/knowledge/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Curation
         * @description What somebody should look at, and why: stale, contradicted, nearly the same as another, or
         *     often told and never of help.
         */
        get: operations["list_curation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project_id}/knowledge/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Knowledge Graph
         * @description What a drawing needs: up to 2,000 nodes, the newest first and without those that are retired,
         *     and the edges between them.
         */
        get: operations["get_knowledge_graph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project_id}/knowledge/map": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Context Map
         * @description The context map: what was done to which file, by which task; by path, of each file the newest
         *     first. `next` is the cursor of the page that follows.
         */
        get: operations["get_context_map"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project_id}/knowledge/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export Knowledge
         * @description All that is known of a project, as the document that the import takes.
         */
        get: operations["export_knowledge"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project_id}/knowledge/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import Knowledge
         * @description Adds what an exported document holds and is not there yet, all of it or nothing; ids are kept
         *     unless another project has them. Each source says who brought it in.
         */
        post: operations["import_knowledge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project_id}/knowledge/agents-md": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Agents Md
         * @description What holds as a section for the project's AGENTS.md; what seems to hold a secret is left
         *     out. Nothing is written.
         */
        get: operations["get_agents_md"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/blockers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Blockers
         * @description What runs said to be in the way, with the tasks that it holds up; with `all`, also what is
         *     resolved.
         */
        get: operations["list_blockers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/blockers/{blocker_id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resolve Blocker
         * @description Says that it is out of the way; the tasks that it held up can go on.
         */
        post: operations["resolve_blocker"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/knowledge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain Knowledge
         * @description What agents of the task were told of what is known, what the next one is told, and why just
         *     that.
         */
        get: operations["explain_knowledge"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Prompts
         * @description Open questions, those with tasks waiting behind them first, then by age; `next` is the cursor
         *     of the page that follows.
         */
        get: operations["list_prompts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{prompt_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Prompt
         * @description A question, open or closed, with the task it belongs to.
         */
        get: operations["get_prompt"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{prompt_id}/answer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer Prompt
         * @description Answers a question. The first answer wins; the form depends on the prompt's type. With
         *     `delay_s` nothing follows for so many seconds, and it can be undone. With `keep` the answer is
         *     kept as a decision, too, which agents of later tasks are told. A choice that closes a task with
         *     unmerged commits is answered with 409 and the list of them, unless `leave_unmerged` is true; the
         *     tasks that depend on it then keep waiting, unless `release_dependents` is true too.
         */
        post: operations["answer_prompt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{prompt_id}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept Prompt
         * @description Answers a question with what was recommended.
         */
        post: operations["accept_prompt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{prompt_id}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo Answer
         * @description Takes an answer back that was given with a delay, while nothing has followed from it.
         */
        post: operations["undo_answer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Runs
         * @description Runs of one task or of all, newest first; `live` leaves out those that have ended. `next` is
         *     the cursor of the page that follows.
         */
        get: operations["list_runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Run
         * @description One run.
         */
        get: operations["get_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/prompt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Run Prompt
         * @description The exact text that the agent was given, in its first turn or in a later one; as turn 0, what
         *     was added to its own system prompt.
         */
        get: operations["get_run_prompt"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/checks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Checks
         * @description What the project's checks said about the work of a run, round by round.
         */
        get: operations["get_checks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/left-out": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Left Out
         * @description The build products that a run left out of the commit of uncommitted work.
         */
        get: operations["get_left_out"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/handoff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Handoff
         * @description The note that a run left for the next, and what was wrong with one that was not kept.
         */
        get: operations["get_handoff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/transcript": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Transcript
         * @description What the agent wrote, from an offset on.
         */
        get: operations["get_transcript"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/output": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream Output
         * @description What the agent says and does, as it happens: the past first, or what follows `after`, then
         *     what comes. Each entry is an `output`; the last is an `end` with the run's status.
         */
        get: operations["stream_output"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop Run
         * @description Stops a run; the task stays where it is, and a person is asked what to do.
         */
        post: operations["stop_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry Run
         * @description Tries a run again now that would be tried again later; *stop* calls it off.
         */
        post: operations["retry_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Agents
         * @description Every agent: what is there, and what is missing with the way to get it. With a project, its
         *     own settings and its user's consent count.
         */
        get: operations["list_agents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cost": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Cost
         * @description What runs cost, in all and by project, task, agent, model or day. Those whose cost is unknown
         *     are counted beside the sum.
         */
        get: operations["get_cost"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Stats
         * @description How runs went and what merged tasks took, in all and by agent.
         */
        get: operations["get_stats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/performance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Performance
         * @description How long finished tasks took and waited, how often work was approved at once, and why runs
         *     failed; by agent and model, and by day.
         */
        get: operations["get_performance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search All
         * @description Tasks and open questions by words, projects and pipelines by their names; tasks, runs and
         *     questions also by the beginning of their ids.
         */
        get: operations["search_all"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/snapshots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Snapshots
         * @description The snapshots of a task, oldest first.
         */
        get: operations["list_snapshots"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/snapshots/{number}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore Snapshot
         * @description Puts the work of a snapshot back: into the task's workspace, uncommitted, with what lies
         *     there now saved first; or as a new branch.
         */
        post: operations["restore_snapshot"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/artifacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Artifacts
         * @description Documents, branch, commits, diff and pull requests of a task, oldest first.
         */
        get: operations["list_artifacts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/artifacts/collect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Collect Artifacts
         * @description Puts the commits of the task's branch and their diff on record once more.
         */
        post: operations["collect_artifacts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/documents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Documents
         * @description Every version of the documents that runs wrote, oldest first.
         */
        get: operations["list_documents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/documents/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Document
         * @description One version of a document (`plan`, `design`, `investigation`); the newest unless given.
         */
        get: operations["get_document"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/documents/{name}/commit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Commit Document
         * @description Commits a version of a document to the task's branch, once. Refused while an agent works.
         */
        post: operations["commit_document"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task_id}/documents/{name}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare Documents
         * @description What changed from one version to another, as a unified diff; unless given, from the one
         *     before the newest to the newest.
         */
        get: operations["compare_documents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/retention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Retention
         * @description What a pass would remove now, with sizes and reasons; nothing is touched.
         */
        get: operations["get_retention"];
        put?: never;
        /**
         * Apply Retention
         * @description Removes what is old enough by the settings, as the server does once a day.
         */
        post: operations["apply_retention"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Hosts
         * @description Every machine with the agents that work on it, how far limits are used, and which runs wait
         *     for a place and why.
         */
        get: operations["get_hosts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/{host}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Drain Host
         * @description Lets a machine finish what it has and take nothing new.
         */
        post: operations["drain_host"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/{host}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume Host
         * @description Lets a machine take work again.
         */
        post: operations["resume_host"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/{host}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove Host
         * @description Sends a machine away: it ends, and others take over what it had.
         */
        delete: operations["remove_host"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Me
         * @description Who is asking.
         */
        get: operations["get_me"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/push": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Push
         * @description How a browser comes to be sent notices while no page is open.
         */
        get: operations["get_push"];
        put?: never;
        /**
         * Take Notices
         * @description Sends notices to this session's browser, until the session ends.
         */
        post: operations["take_notices"];
        /**
         * Take No Notices
         * @description Sends this session's browser no notices any more.
         */
        delete: operations["take_no_notices"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Tokens
         * @description The owner's token, other tokens and the sessions of browsers; never what they are.
         */
        get: operations["list_tokens"];
        put?: never;
        /**
         * Create Token
         * @description Makes a token, which is told this once.
         */
        post: operations["create_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens/{token_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke Token
         * @description Revokes a token and ends its sessions, or ends one session.
         */
        delete: operations["revoke_token"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/login-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create Login Link
         * @description A link that logs in on another device: once, within ten minutes. Also as a picture.
         */
        post: operations["create_login_link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Audit
         * @description Decisions that are no events of a task, the newest first; `next` is the cursor of the page
         *     that follows. `what` is a deed such as `token.made`, or `token` for all of that kind.
         */
        get: operations["list_audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export Audit
         * @description The same as a table for a spreadsheet, all of it.
         */
        get: operations["export_audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Parts
         * @description Whether the server can do its work, part by part.
         */
        get: operations["get_parts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/forges/github/webhook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take Github Webhook
         * @description For the webhook of a repository on GitHub, with the content type application/json. It needs
         *     no token but a signature: the secret of the webhook is that of `AM_GITHUB_WEBHOOK_SECRET`. What
         *     it says is not believed; the pull request is looked at on GitHub.
         */
        post: operations["take_github_webhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream Events
         * @description Events as they happen, of one task or of all. With `after`, or the header that browsers send
         *     when they come back, those after that event first; none is missed and none comes twice.
         */
        get: operations["stream_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** AcceptForm */
        AcceptForm: {
            /**
             * Delay S
             * @default 0
             */
            delay_s?: number;
            /**
             * Keep
             * @default false
             */
            keep?: boolean;
        };
        /** Actor */
        Actor: {
            type: components["schemas"]["ActorType"];
            /** Name */
            name: string;
            /** Run */
            run: string | null;
            /** Via */
            via: string | null;
        };
        /**
         * ActorType
         * @enum {string}
         */
        ActorType: "user" | "agent" | "system" | "supervisor";
        /** Agent */
        Agent: {
            /** Name */
            name: string;
            /** Usable */
            usable: boolean;
            /** Model */
            model: string | null;
            /** Program */
            program: string | null;
            /** Version */
            version: string | null;
            /** Missing */
            missing: string[];
            /** Doubts */
            doubts: string[];
            capabilities: components["schemas"]["Capabilities"];
        };
        /** AgentError */
        AgentError: {
            /** Error */
            error: string;
            error_class: components["schemas"]["ErrorClass"];
            /** Output */
            output: string;
            /** Resets At */
            resets_at: string | null;
        };
        /** AgentShare */
        AgentShare: {
            /** Agent */
            agent: string | null;
            /** Model */
            model: string | null;
            /** Completed */
            completed: number;
            /** Failed */
            failed: number;
            took_s: components["schemas"]["Spread"];
            first_pass: components["schemas"]["FirstPass"];
            /** Failures */
            failures: components["schemas"]["Failure"][];
        };
        /** Agents */
        Agents: {
            /** Items */
            items: components["schemas"]["Agent"][];
            /** Next */
            next: string | null;
        };
        /** AllowPerson */
        AllowPerson: {
            /** Name */
            name: string;
            /**
             * Role
             * @default admin
             */
            role?: string;
        };
        /** Answered */
        Answered: {
            prompt: components["schemas"]["Prompt"];
            task: components["schemas"]["Task"];
            /** Repeated */
            repeated: boolean;
            /** Decisions */
            decisions: components["schemas"]["KnowledgeNode"][];
        };
        /** Artifact */
        Artifact: {
            /** Id */
            id: string;
            /** Run Id */
            run_id: string | null;
            type: components["schemas"]["ArtifactType"];
            /** Key */
            key: string;
            /** Label */
            label: string;
            /** Data */
            data: {
                [key: string]: unknown;
            };
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /**
         * ArtifactType
         * @enum {string}
         */
        ArtifactType: "branch" | "commit" | "pull_request" | "diff" | "document" | "link";
        /** Artifacts */
        Artifacts: {
            /** Items */
            items: components["schemas"]["Artifact"][];
        };
        /** Asked */
        Asked: {
            type: components["schemas"]["PromptType"];
            /** Summary */
            summary: string;
            /** Choices */
            choices: string[];
        };
        /** Audit */
        Audit: {
            /** Items */
            items: components["schemas"]["AuditEntry"][];
            /** Next */
            next: string | null;
        };
        /** AuditEntry */
        AuditEntry: {
            /** Id */
            id: number;
            /**
             * Time
             * Format: date-time
             */
            time: string;
            /** Who */
            who: string;
            /** Via */
            via: string | null;
            /** Address */
            address: string | null;
            /** What */
            what: string;
            /** Summary */
            summary: string;
            /** Data */
            data: {
                [key: string]: unknown;
            };
        };
        /** Blocker */
        Blocker: {
            /** Id */
            id: string;
            /** Project Id */
            project_id: string;
            /** Task Id */
            task_id: string;
            /** Run Id */
            run_id: string;
            /** Blocker */
            blocker: string;
            /** Impact */
            impact: string;
            /** Suggested Resolution */
            suggested_resolution: string;
            /** Blocking Tasks */
            blocking_tasks: string[];
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Resolved At */
            resolved_at: string | null;
            /** Resolved By */
            resolved_by: string | null;
            /** Note */
            note: string | null;
        };
        /** BlockerView */
        BlockerView: {
            blocker: components["schemas"]["Blocker"];
            project: components["schemas"]["ProjectRef"];
            told_by: components["schemas"]["TaskRef"] | null;
            /** Tasks */
            tasks: components["schemas"]["TaskRef"][];
        };
        /** Blockers */
        Blockers: {
            /** Items */
            items: components["schemas"]["BlockerView"][];
        };
        /** Board */
        Board: {
            /** Lanes */
            lanes: components["schemas"]["Lane"][];
            /** Cards */
            cards: components["schemas"]["Card"][];
            finished: components["schemas"]["Finished"];
        };
        /** Borrowed */
        Borrowed: {
            /** Kind */
            kind: string;
            /** Name */
            name: string;
            /** Plugin */
            plugin: string;
        };
        /** Budget */
        Budget: {
            scope: components["schemas"]["BudgetScope"];
            /** Subject */
            subject: string;
            /** Name */
            name: string;
            /** Limit Usd */
            limit_usd: number;
            /** Granted Usd */
            granted_usd: number;
            /** Spent Usd */
            spent_usd: number;
            /** Unknown */
            unknown: number;
            /** Left Usd */
            left_usd: number;
        };
        /**
         * BudgetScope
         * @description What a budget is for.
         * @enum {string}
         */
        BudgetScope: "run" | "task" | "project" | "day";
        /**
         * By
         * @enum {string}
         */
        By: "project" | "task" | "agent" | "model" | "day";
        /**
         * Came
         * @description What came of a period.
         * @enum {string}
         */
        Came: "created" | "skipped";
        /** Capabilities */
        Capabilities: {
            /** Resumes */
            resumes: boolean;
            /** Structured Output */
            structured_output: boolean;
            /** Mcp */
            mcp: boolean;
            /** Reports Cost */
            reports_cost: boolean;
            /** Read Only Modes */
            read_only_modes: boolean;
            /** System Prompt */
            system_prompt: boolean;
            /** Harmless */
            harmless: boolean;
            /** Interrupts */
            interrupts: boolean;
            /** Asks Permission */
            asks_permission: boolean;
        };
        /** Card */
        Card: {
            /** Id */
            id: string;
            /** Title */
            title: string;
            /** Project Id */
            project_id: string;
            /** Pipeline Id */
            pipeline_id: string;
            /** Status */
            status: string;
            category: components["schemas"]["Category"];
            /** Type */
            type: string;
            /** Priority */
            priority: string;
            /** Tags */
            tags: string[];
            /** Version */
            version: number;
            /**
             * Updated At
             * Format: date-time
             */
            updated_at: string;
            /** Starts At */
            starts_at: string | null;
            /** Waits For */
            waits_for: components["schemas"]["CardDependency"][];
            /** Waits For Total */
            waits_for_total: number;
            /** Mover */
            mover: string;
            prompt: components["schemas"]["CardPrompt"] | null;
            run: components["schemas"]["CardRun"] | null;
            round: components["schemas"]["CardRound"] | null;
            cost: components["schemas"]["CardCost"] | null;
            phases: components["schemas"]["CardPhases"] | null;
            pull: components["schemas"]["CardPull"] | null;
        };
        /** CardCost */
        CardCost: {
            /** Usd */
            usd: number | null;
            /** Unknown */
            unknown: number;
        };
        /** CardDependency */
        CardDependency: {
            /** Id */
            id: string;
            /** Title */
            title: string;
        };
        /** CardPhases */
        CardPhases: {
            /** Done */
            done: number;
            /** Total */
            total: number;
        };
        /** CardPrompt */
        CardPrompt: {
            /** Id */
            id: string;
            type: components["schemas"]["PromptType"];
            /**
             * Since
             * Format: date-time
             */
            since: string;
        };
        /** CardPull */
        CardPull: {
            /** Number */
            number: number;
            state: components["schemas"]["PullState"];
        };
        /** CardRound */
        CardRound: {
            /** Number */
            number: number;
            /** Max */
            max: number;
            /** Status */
            status: string;
        };
        /** CardRun */
        CardRun: {
            /** Id */
            id: string;
            /** Agent */
            agent: string | null;
            /** Mode */
            mode: string;
            status: components["schemas"]["RunStatus"];
            /** Started At */
            started_at: string | null;
            /** Printed At */
            printed_at: string | null;
        };
        /**
         * Category
         * @enum {string}
         */
        Category: "open" | "active" | "waiting" | "review" | "final";
        /**
         * ChangeType
         * @enum {string}
         */
        ChangeType: "add" | "modify" | "delete" | "refactor";
        /** ChangedFile */
        ChangedFile: {
            /** Path */
            path: string;
            /** Old Path */
            old_path: string | null;
            status: components["schemas"]["FileStatus"];
            /** Additions */
            additions: number | null;
            /** Deletions */
            deletions: number | null;
            /** Binary */
            binary: boolean;
            /** Generated */
            generated: boolean;
        };
        /** Changes */
        Changes: {
            /** Base Sha */
            base_sha: string | null;
            /** Head Sha */
            head_sha: string | null;
            /** Since */
            since: number | null;
            /** Rounds */
            rounds: components["schemas"]["ReviewRound"][];
            /** Files */
            files: components["schemas"]["ChangedFile"][];
        };
        /** Channel */
        Channel: {
            /** Name */
            name: string;
            /** Enabled */
            enabled: boolean;
            /** Trouble */
            trouble: string | null;
            /** Events */
            events: components["schemas"]["Occasion"][];
            /** Break Through */
            break_through: components["schemas"]["Occasion"][];
            /** People */
            people: {
                [key: string]: components["schemas"]["ChannelPerson"];
            };
            /** Places */
            places: string[];
            /** Waiting */
            waiting: number;
            /** Sent */
            sent: number;
            /** Failed */
            failed: number;
            /** Error */
            error: string | null;
            /** Strangers */
            strangers: components["schemas"]["Stranger"][];
        };
        /** ChannelPerson */
        ChannelPerson: {
            /** Name */
            name: string;
            /** Role */
            role: string;
        };
        /** ChannelTest */
        ChannelTest: {
            /** Speaks As */
            speaks_as: string;
            /** Places */
            places: string[];
        };
        /** Channels */
        Channels: {
            /** Items */
            items: components["schemas"]["Channel"][];
        };
        /**
         * Check
         * @description What one check said about the work of a run.
         */
        Check: {
            /** Name */
            name: string;
            /** Passed */
            passed: boolean;
            /** Severity */
            severity: string;
            /** How */
            how: string;
            /** Output */
            output: string;
            /** Seconds */
            seconds: number;
        };
        /** Checks */
        Checks: {
            /** Run Id */
            run_id: string;
            /** Rounds */
            rounds: components["schemas"]["Check"][][];
        };
        /** Column */
        Column: {
            /** Id */
            id: string;
            /** Title */
            title: string;
            /** Color */
            color: string | null;
            category: components["schemas"]["Category"];
            /** Count */
            count: number;
        };
        /** Comment */
        Comment: {
            /** Number */
            number: number | null;
            /** Pull */
            pull: number | null;
            /** Review */
            review: string | null;
            /** Author */
            author: string;
            /** Text */
            text: string;
            /** Severity */
            severity: string | null;
            /** File */
            file: string | null;
            /** Line */
            line: number | null;
            /** Original File */
            original_file: string | null;
            /** Original Line */
            original_line: number | null;
            /** Head Sha */
            head_sha: string | null;
            /** Quote */
            quote: string;
            /** Outdated */
            outdated: boolean;
            state: components["schemas"]["State"];
            /** Resolved */
            resolved: boolean;
            /** Answers */
            answers: components["schemas"]["CommentAnswer"][];
            /**
             * Time
             * Format: date-time
             */
            time: string;
        };
        /** CommentAnswer */
        CommentAnswer: {
            /** Author */
            author: string;
            /** Text */
            text: string;
            /**
             * Time
             * Format: date-time
             */
            time: string;
        };
        /** CommentState */
        CommentState: {
            /** Resolved */
            resolved: boolean;
        };
        /** Comments */
        Comments: {
            /** Items */
            items: components["schemas"]["Comment"][];
        };
        /** CommitDocument */
        CommitDocument: {
            /** Version */
            version?: number | null;
            /** Path */
            path?: string | null;
            /**
             * Replace
             * @default false
             */
            replace?: boolean;
        };
        /** CommittedDocument */
        CommittedDocument: {
            /** Document */
            document: string;
            /** Version */
            version: number;
            /** Path */
            path: string;
            /** Branch */
            branch: string;
            /** Sha */
            sha: string;
            /** New */
            new: boolean;
        };
        /** Contender */
        Contender: {
            /** Agent */
            agent: string;
            /** Model */
            model: string | null;
        };
        /** ContenderForm */
        ContenderForm: {
            /** Agent */
            agent: string;
            /** Model */
            model?: string | null;
        };
        /** ContextMap */
        ContextMap: {
            /** Items */
            items: components["schemas"]["MappedFile"][];
            /** Next */
            next: string | null;
        };
        /** Contradict */
        Contradict: {
            /** Other */
            other: string;
            /**
             * Reason
             * @default
             */
            reason?: string;
        };
        /**
         * CostBasis
         * @enum {string}
         */
        CostBasis: "reported" | "computed";
        /** CostReport */
        CostReport: {
            by: components["schemas"]["By"];
            /** Since */
            since: string | null;
            total: components["schemas"]["Spent"];
            /** Shares */
            shares: components["schemas"]["Share"][];
            /** Left Out */
            left_out: number;
            /** Budgets */
            budgets: components["schemas"]["Budget"][];
        };
        /** CurationQueue */
        CurationQueue: {
            /** Items */
            items: components["schemas"]["ToCurate"][];
        };
        /** DayShare */
        DayShare: {
            /** Day */
            day: string;
            /** Finished */
            finished: number;
            lead_s: components["schemas"]["Spread"];
            /** Completed */
            completed: number;
            /** Failed */
            failed: number;
        };
        /** Decided */
        Decided: {
            /** Step */
            step: number;
            /** By */
            by: string;
            result: components["schemas"]["Result"];
            /** From */
            from: string;
            /** To */
            to: string;
            /** Transition */
            transition: string | null;
            /** Guards */
            guards: components["schemas"]["GuardCheck"][];
            /** Reasons */
            reasons: string[];
            /** Effects */
            effects: components["schemas"]["HookRecord"][];
            asks: components["schemas"]["Asked"] | null;
        };
        /** Deleted */
        Deleted: {
            task: components["schemas"]["Task"];
            /** Branches */
            branches: string[];
            /** Released */
            released: string[];
            /** Left */
            left: string | null;
        };
        /** Document */
        Document: {
            /** Name */
            name: string;
            /** Version */
            version: number;
            /** Text */
            text: string;
            /** Artifact Id */
            artifact_id: string;
            /** Run Id */
            run_id: string | null;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /** Documents */
        Documents: {
            /** Items */
            items: components["schemas"]["Document"][];
        };
        /** DrawnEdge */
        DrawnEdge: {
            /** From */
            from: string;
            /** To */
            to: string;
            kind: components["schemas"]["EdgeKind"];
        };
        /** DrawnNode */
        DrawnNode: {
            /** Id */
            id: string;
            kind: components["schemas"]["NodeKind"];
            /** Text */
            text: string;
            /** Severity */
            severity: ("high" | "medium" | "low") | null;
            /** Tags */
            tags: string[];
            state: components["schemas"]["NodeState"];
            /** Used */
            used: number;
            /** Helpful */
            helpful: number;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /**
         * EdgeKind
         * @enum {string}
         */
        EdgeKind: "found_by" | "contradicts" | "answers" | "follows";
        /** Edited */
        Edited: {
            task: components["schemas"]["Task"];
            /** Fields */
            fields: string[];
            /** Run */
            run: string | null;
        };
        /**
         * Error
         * @description Every answer that is not a success.
         */
        Error: {
            /** Error */
            error: string;
            /** Message */
            message: string;
            /** Details */
            details: string[];
        };
        /**
         * ErrorClass
         * @enum {string}
         */
        ErrorClass: "crash" | "timeout" | "stalled" | "cancelled" | "rate_limit" | "overloaded" | "quota" | "auth" | "budget" | "bad_output" | "context_too_long" | "max_tokens" | "refusal" | "checks_failed" | "environment" | "limit" | "interrupted";
        /** Event */
        Event: {
            /** Id */
            id: number;
            /** Task Id */
            task_id: string;
            /** Seq */
            seq: number;
            /**
             * Time
             * Format: date-time
             */
            time: string;
            /** Category */
            category: string;
            /** Type */
            type: string;
            level: components["schemas"]["Level"];
            /** Summary */
            summary: string;
            actor: components["schemas"]["Actor"];
            /** Data */
            data: {
                [key: string]: unknown;
            };
        };
        /** Events */
        Events: {
            /** Items */
            items: components["schemas"]["Event"][];
            /** Next */
            next: number | null;
        };
        /** Failure */
        Failure: {
            /** Reason */
            reason: string;
            /** Runs */
            runs: number;
        };
        /** FileChange */
        FileChange: {
            file: components["schemas"]["ChangedFile"];
            /** Diff */
            diff: string;
            /** Cut */
            cut: boolean;
            /** Old Text */
            old_text: string | null;
            /** New Text */
            new_text: string | null;
        };
        /** FileNote */
        FileNote: {
            /** Id */
            id: string;
            /** Path */
            path: string;
            /** Task Id */
            task_id: string;
            /** Run Id */
            run_id: string;
            /** Change */
            change: string;
            /** Description */
            description: string;
            /** Lines */
            lines: string;
            /**
             * At
             * Format: date-time
             */
            at: string;
        };
        /**
         * FileStatus
         * @enum {string}
         */
        FileStatus: "added" | "modified" | "deleted" | "renamed" | "copied" | "retyped";
        /** Finding */
        Finding: {
            severity: components["schemas"]["Severity"];
            /** Code */
            code: string;
            /** Position */
            position: string;
            /** Message */
            message: string;
            /** Fix */
            fix: string;
        };
        /** Finished */
        Finished: {
            /** Total */
            total: number;
            /** Shown */
            shown: number;
        };
        /** Firing */
        Firing: {
            /**
             * Period
             * Format: date-time
             */
            period: string;
            came: components["schemas"]["Came"];
            /** Task Id */
            task_id: string | null;
            /** By */
            by: string | null;
            /**
             * Time
             * Format: date-time
             */
            time: string;
        };
        /** FirstPass */
        FirstPass: {
            /** Reviewed */
            reviewed: number;
            /** Approved */
            approved: number;
            /** Rate */
            rate: number | null;
        };
        /** ForgeState */
        ForgeState: {
            /** Type */
            type: string;
            /** Trouble */
            trouble: string | null;
        };
        /** FoundNode */
        FoundNode: {
            node: components["schemas"]["KnowledgeNode"];
            project: components["schemas"]["ProjectRef"];
            /** Tasks */
            tasks: components["schemas"]["TaskRef"][];
        };
        /** FoundNodes */
        FoundNodes: {
            /** Items */
            items: components["schemas"]["FoundNode"][];
            /** Next */
            next: string | null;
        };
        /** Guard */
        Guard: {
            /** Type */
            type: string;
            /** Params */
            params: {
                [key: string]: unknown;
            };
            /** Not */
            not: boolean;
        };
        /** GuardCheck */
        GuardCheck: {
            /** Name */
            name: string;
            /** Passed */
            passed: boolean;
            /** Reason */
            reason: string;
        };
        /** GuardPart */
        GuardPart: {
            /** Name */
            name: string;
            /** Meaning */
            meaning: string;
            /** Params */
            params: {
                [key: string]: unknown;
            } | null;
        };
        /** Handoff */
        Handoff: {
            /** Run Id */
            run_id: string;
            /** Task Id */
            task_id: string;
            handoff: components["schemas"]["HandoffNote"];
            /** Source */
            source: string;
            /** Completeness */
            completeness: number;
            /**
             * At
             * Format: date-time
             */
            at: string;
        };
        /** HandoffBlocker */
        HandoffBlocker: {
            /** Blocker */
            blocker: string;
            /** Impact */
            impact: string;
            /** Suggested Resolution */
            suggested_resolution: string;
            /** Blocking Tasks */
            blocking_tasks: string[];
        };
        /** HandoffDependency */
        HandoffDependency: {
            /** File */
            file: string;
            /** Reason */
            reason: string;
        };
        /** HandoffFileCreated */
        HandoffFileCreated: {
            /** Path */
            path: string;
            /** Purpose */
            purpose: string;
            /** Lines */
            lines: string;
        };
        /** HandoffFileModified */
        HandoffFileModified: {
            /** Path */
            path: string;
            /** Lines */
            lines: string;
            change_type: components["schemas"]["ChangeType"];
            /** Description */
            description: string;
        };
        /** HandoffGotcha */
        HandoffGotcha: {
            /** Id */
            id: string | null;
            /** Issue */
            issue: string;
            /** Discovered In */
            discovered_in: string;
            /** Mitigation */
            mitigation: string;
            /**
             * Severity
             * @enum {string}
             */
            severity: "high" | "medium" | "low";
        };
        /**
         * HandoffNote
         * @description The fields by the names that agents write.
         */
        HandoffNote: {
            outcome: components["schemas"]["HandoffOutcome"];
            /** Files Created */
            files_created: components["schemas"]["HandoffFileCreated"][];
            /** Files Modified */
            files_modified: components["schemas"]["HandoffFileModified"][];
            /** Patterns Discovered */
            patterns_discovered: components["schemas"]["HandoffPattern"][];
            /** Gotchas */
            gotchas: components["schemas"]["HandoffGotcha"][];
            /** Dependencies For Next */
            dependencies_for_next: components["schemas"]["HandoffDependency"][];
            /** Open Questions */
            open_questions: components["schemas"]["HandoffQuestion"][];
            /** Suggested Next Steps */
            suggested_next_steps: components["schemas"]["HandoffStep"][];
            /** Blockers */
            blockers: components["schemas"]["HandoffBlocker"][];
        };
        /**
         * HandoffOutcome
         * @enum {string}
         */
        HandoffOutcome: "completed" | "partial" | "failed" | "blocked";
        /** HandoffPattern */
        HandoffPattern: {
            /** Id */
            id: string | null;
            /** Pattern */
            pattern: string;
            /** Location */
            location: string;
            /** Applies To */
            applies_to: string[];
        };
        /** HandoffQuestion */
        HandoffQuestion: {
            /** Question */
            question: string;
            /** Context */
            context: string;
            /** Recommendation */
            recommendation: string;
            /** Blocking */
            blocking: boolean;
        };
        /**
         * HandoffRule
         * @description Whether a run must leave a handoff; a run that ends with a question need not.
         * @enum {string}
         */
        HandoffRule: "optional" | "required";
        /** HandoffStep */
        HandoffStep: {
            /** Step */
            step: string;
            /**
             * Priority
             * @enum {string}
             */
            priority: "high" | "medium" | "low";
            /** Depends On */
            depends_on: string[];
        };
        /** Health */
        Health: {
            /**
             * Status
             * @constant
             */
            status: "ok";
        };
        /** Histories */
        Histories: {
            /** Items */
            items: components["schemas"]["History"][];
            /** Next */
            next: string | null;
        };
        /** History */
        History: {
            /** Id */
            id: string;
            /** Version */
            version: number;
            result: components["schemas"]["Result"];
            /** Transition Id */
            transition_id: string | null;
            /** From */
            from: string;
            /** To */
            to: string;
            /** Trigger */
            trigger: string;
            /** Outcome */
            outcome: string | null;
            actor: components["schemas"]["Actor"];
            /** Payload */
            payload: {
                [key: string]: unknown;
            } | null;
            /** Guards */
            guards: components["schemas"]["GuardCheck"][];
            /** Hooks */
            hooks: components["schemas"]["HookRecord"][];
            /** Reason */
            reason: string | null;
            /**
             * Time
             * Format: date-time
             */
            time: string;
        };
        /** Hit */
        Hit: {
            /**
             * Kind
             * @enum {string}
             */
            kind: "task" | "prompt" | "run" | "project" | "pipeline";
            /** Id */
            id: string;
            /** Title */
            title: string;
            /** Detail */
            detail: string;
            /** Task Id */
            task_id: string | null;
        };
        /** Hits */
        Hits: {
            /** Items */
            items: components["schemas"]["Hit"][];
        };
        /** Hook */
        Hook: {
            /** Type */
            type: string;
            /** Params */
            params: {
                [key: string]: unknown;
            };
            policy: components["schemas"]["Policy"] | null;
        };
        /** HookPart */
        HookPart: {
            /** Name */
            name: string;
            /** Meaning */
            meaning: string;
            policy: components["schemas"]["Policy"];
            /** Params */
            params: {
                [key: string]: unknown;
            } | null;
        };
        /** HookRecord */
        HookRecord: {
            /** Name */
            name: string;
            /** Policy */
            policy: string;
            /** Effect */
            effect: string | null;
        };
        /** Host */
        Host: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Version */
            version: string;
            /** Labels */
            labels: string[];
            /** State */
            state: string;
            /** Capacity */
            capacity: number | null;
            /** Started At */
            started_at: string | null;
            /** Seen At */
            seen_at: string | null;
            /** Free Disk Mb */
            free_disk_mb: number | null;
            /** Here */
            here: boolean;
            /** Working */
            working: components["schemas"]["HostStart"][];
            /** Projects */
            projects: string[];
        };
        /**
         * HostStart
         * @description An agent that works, or waits for its turn.
         */
        HostStart: {
            /** Run Id */
            run_id: string;
            /** Task Id */
            task_id: string;
            /** Title */
            title: string;
            /** Project */
            project: string;
            /** Agent */
            agent: string | null;
            /** Why */
            why: string | null;
        };
        /**
         * HostUse
         * @description Of a limit.
         */
        HostUse: {
            /** Name */
            name: string;
            /** Working */
            working: number;
            /** Most */
            most: number | null;
        };
        /** Hosts */
        Hosts: {
            /** Hosts */
            hosts: components["schemas"]["Host"][];
            /** Projects */
            projects: components["schemas"]["HostUse"][];
            /** Agents */
            agents: components["schemas"]["HostUse"][];
            /** Waiting */
            waiting: components["schemas"]["HostStart"][];
            /** Waiting In All */
            waiting_in_all: number;
        };
        /**
         * ImportState
         * @enum {string}
         */
        ImportState: "made" | "to_make" | "already_there";
        /** ImportedKnowledge */
        ImportedKnowledge: {
            /** Added */
            added: number;
            /** Already There */
            already_there: number;
            /** Edges */
            edges: number;
            /** Renamed */
            renamed: {
                [key: string]: string;
            };
        };
        /** ImportedTask */
        ImportedTask: {
            /** Place */
            place: string;
            /** Title */
            title: string;
            state: components["schemas"]["ImportState"];
            /** Task Id */
            task_id: string | null;
            /** Pipeline */
            pipeline: string;
            /** Dependencies */
            dependencies: number;
            /** Left Out */
            left_out: string[];
            /** Changed */
            changed: boolean;
            /** Note */
            note: boolean;
            start: components["schemas"]["StartState"] | null;
            /** Start Reason */
            start_reason: string;
        };
        /** ImportedTasks */
        ImportedTasks: {
            /** Items */
            items: components["schemas"]["ImportedTask"][];
            /** Skipped */
            skipped: number;
            /** Left Out */
            left_out: components["schemas"]["LeftOutItem"][];
            /** Left Out Count */
            left_out_count: number;
        };
        /** Inbox */
        Inbox: {
            /** Items */
            items: components["schemas"]["InboxItem"][];
            /** Next */
            next: string | null;
            /** Total */
            total: number;
        };
        /** InboxItem */
        InboxItem: {
            prompt: components["schemas"]["Prompt"];
            task: components["schemas"]["Task"];
            project: components["schemas"]["ProjectRef"];
            /** Summary */
            summary: string;
            /** Acceptable */
            acceptable: {
                [key: string]: unknown;
            } | null;
            /** Waiting Behind */
            waiting_behind: string[];
        };
        /** IssueImport */
        IssueImport: {
            /** Project */
            project: string;
            /** Repository */
            repository?: string | null;
            /**
             * Issues
             * @default []
             */
            issues?: number[];
            /**
             * Labels
             * @default []
             */
            labels?: string[];
            /** State */
            state?: ("open" | "closed" | "all") | null;
            /**
             * Dry Run
             * @default false
             */
            dry_run?: boolean;
            /**
             * Start
             * @default false
             */
            start?: boolean;
            /** Starts At */
            starts_at?: string | null;
        };
        /**
         * KeyKind
         * @enum {string}
         */
        KeyKind: "owner" | "token" | "session";
        /** KnowledgeGraph */
        KnowledgeGraph: {
            /** Nodes */
            nodes: components["schemas"]["DrawnNode"][];
            /** Edges */
            edges: components["schemas"]["DrawnEdge"][];
            /** Cut */
            cut: boolean;
        };
        /**
         * KnowledgeNode
         * @description What an agent or a person said; words to read, never an instruction.
         */
        KnowledgeNode: {
            /** Id */
            id: string;
            /** Project Id */
            project_id: string;
            kind: components["schemas"]["NodeKind"];
            /** Text */
            text: string;
            /** Detail */
            detail: {
                [key: string]: unknown;
            };
            /** Severity */
            severity: ("high" | "medium" | "low") | null;
            /** Tags */
            tags: string[];
            state: components["schemas"]["NodeState"];
            /** Sources */
            sources: components["schemas"]["KnowledgeSource"][];
            /** Used */
            used: number;
            /** Helpful */
            helpful: number;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Updated At
             * Format: date-time
             */
            updated_at: string;
            /** Confirmed At */
            confirmed_at: string | null;
            /** Confirmed Commit */
            confirmed_commit: string | null;
            /** Version */
            version: number;
        };
        /** KnowledgeSource */
        KnowledgeSource: {
            /** Task Id */
            task_id: string | null;
            /** Run Id */
            run_id: string | null;
            /** By */
            by: string;
            /** Commit */
            commit: string | null;
            /** File */
            file: string | null;
            /** Lines */
            lines: string | null;
            /** Words */
            words: string;
            /**
             * At
             * Format: date-time
             */
            at: string;
        };
        /** Lane */
        Lane: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Version */
            version: number;
            /** Columns */
            columns: components["schemas"]["Column"][];
        };
        /**
         * LeftOut
         * @description The build products that were left out of the commit of uncommitted work.
         */
        LeftOut: {
            /** Run Id */
            run_id: string;
            /** Paths */
            paths: string[];
            /** More */
            more: number;
        };
        /** LeftOutItem */
        LeftOutItem: {
            /** Place */
            place: string;
            /** Text */
            text: string;
        };
        /** LeftOutNode */
        LeftOutNode: {
            node: components["schemas"]["KnowledgeNode"];
            /** Reason */
            reason: string;
        };
        /**
         * Level
         * @enum {string}
         */
        Level: "debug" | "info" | "warning" | "error";
        /** LintReport */
        LintReport: {
            /** Ok */
            ok: boolean;
            /** Findings */
            findings: components["schemas"]["Finding"][];
            /** Plugins */
            plugins: components["schemas"]["Borrowed"][];
        };
        /** Login */
        Login: {
            /** Token */
            token?: string | null;
            /** Code */
            code?: string | null;
        };
        /** LoginLink */
        LoginLink: {
            /** Url */
            url: string;
            /** Code */
            code: string;
            /**
             * Expires At
             * Format: date-time
             */
            expires_at: string;
            /** Svg */
            svg: string;
        };
        /** LoopBackSeen */
        LoopBackSeen: {
            trigger: components["schemas"]["LoopBackTrigger"];
            /** Run */
            run: string;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Implied */
            implied: boolean;
            /** Stopped */
            stopped: string | null;
            /** Note */
            note: string | null;
            /** Ran */
            ran: components["schemas"]["StageRun"][];
        };
        /** LoopBackTrigger */
        LoopBackTrigger: {
            /** Trigger Id */
            trigger_id: string;
            /** Source Agent */
            source_agent: string;
            /** Source Stage */
            source_stage: number;
            /** Target Agent */
            target_agent: string;
            /** Target Stage */
            target_stage: number;
            /** Reason */
            reason: string;
            /** Context */
            context: string | null;
            priority: components["schemas"]["Priority"];
            /**
             * Status
             * @enum {string}
             */
            status: "pending" | "dispatched" | "completed";
        };
        /** MappedFile */
        MappedFile: {
            note: components["schemas"]["FileNote"];
            task: components["schemas"]["TaskRef"] | null;
        };
        /** Me */
        Me: {
            /** Name */
            name: string;
            /** Role */
            role: string;
            /** Via */
            via: string;
            /** Admin */
            admin: boolean;
            /** Version */
            version: string;
            /** Expires At */
            expires_at: string | null;
            /** Last Event */
            last_event: number;
        };
        /** Merges */
        Merges: {
            /** Tasks */
            tasks: number;
            /** Review Rounds */
            review_rounds: number | null;
            /** Unknown */
            unknown: number;
            /** Cost Per Task Usd */
            cost_per_task_usd: number | null;
        };
        /** MigrateForm */
        MigrateForm: {
            /** To */
            to?: number | null;
            /**
             * Map
             * @default {}
             */
            map?: {
                [key: string]: string;
            };
            /** Task */
            task?: string | null;
            /**
             * Apply
             * @default false
             */
            apply?: boolean;
        };
        /** Migration */
        Migration: {
            /** Pipeline Id */
            pipeline_id: string;
            /** Version */
            version: number;
            /** Applied */
            applied: boolean;
            /** Tasks */
            tasks: components["schemas"]["MigrationStep"][];
        };
        /** MigrationStep */
        MigrationStep: {
            /** Task Id */
            task_id: string;
            /** Title */
            title: string;
            /** Version */
            version: number;
            /** From */
            from: string;
            /** To */
            to: string | null;
            /** Problem */
            problem: string | null;
        };
        /** Move */
        Move: {
            /** Id */
            id: string;
            /** To */
            to: string;
            /** Label */
            label: string;
            /** Allowed */
            allowed: boolean;
            /** Reasons */
            reasons: string[];
            /** When Ready */
            when_ready: boolean;
        };
        /** MoveForm */
        MoveForm: {
            /** To */
            to: string;
            /**
             * Force
             * @default false
             */
            force?: boolean;
            /**
             * Stop
             * @default false
             */
            stop?: boolean;
            /** Reason */
            reason?: string | null;
            /** Expect Version */
            expect_version?: number | null;
            /**
             * Leave Unmerged
             * @default false
             */
            leave_unmerged?: boolean;
            /**
             * Release Dependents
             * @default false
             */
            release_dependents?: boolean;
        };
        /** Moved */
        Moved: {
            task: components["schemas"]["Task"];
            /** Stopping Run */
            stopping_run: string | null;
            /** Waits */
            waits: string | null;
        };
        /** Mover */
        Mover: {
            /** Kind */
            kind: string;
            /** Text */
            text: string;
            /** Id */
            id: string | null;
        };
        /** NewAnswer */
        NewAnswer: {
            /** Text */
            text: string;
        };
        /** NewComment */
        NewComment: {
            /** Text */
            text: string;
            /** File */
            file?: string | null;
            /** Line */
            line?: number | null;
            /** Severity */
            severity?: string | null;
        };
        /** NewProject */
        NewProject: {
            /** Path */
            path: string;
            /** Name */
            name?: string | null;
            /** Base Branch */
            base_branch?: string | null;
        };
        /** NewSchedule */
        NewSchedule: {
            /** Project */
            project: string;
            /** Name */
            name: string;
            /** Rule */
            rule: string;
            /**
             * Zone
             * @default UTC
             */
            zone?: string;
            task: components["schemas"]["NewScheduledTask"];
            /**
             * Start
             * @default false
             */
            start?: boolean;
            /**
             * When Open
             * @default skip
             * @enum {string}
             */
            when_open?: "skip" | "queue";
            /** Until */
            until?: string | null;
            /** Most */
            most?: number | null;
        };
        /** NewScheduledTask */
        NewScheduledTask: {
            /** Title */
            title: string;
            /**
             * Description
             * @default
             */
            description?: string;
            /**
             * Objective
             * @default
             */
            objective?: string;
            /**
             * Type
             * @default feature
             */
            type?: string;
            /**
             * Priority
             * @default medium
             */
            priority?: string;
            /**
             * Size
             * @default medium
             */
            size?: string;
            /**
             * Complexity
             * @default medium
             */
            complexity?: string;
            /**
             * Tags
             * @default []
             */
            tags?: string[];
            /**
             * Acceptance Criteria
             * @default []
             */
            acceptance_criteria?: string[];
            /** Pipeline */
            pipeline?: string | null;
            /** Agent */
            agent?: string | null;
            /** Model */
            model?: string | null;
        };
        /** NewTask */
        NewTask: {
            /** Title */
            title: string;
            /**
             * Description
             * @default
             */
            description?: string;
            /**
             * Objective
             * @default
             */
            objective?: string;
            /**
             * Type
             * @default feature
             */
            type?: string;
            /**
             * Priority
             * @default medium
             */
            priority?: string;
            /**
             * Size
             * @default medium
             */
            size?: string;
            /**
             * Complexity
             * @default medium
             */
            complexity?: string;
            /**
             * Tags
             * @default []
             */
            tags?: string[];
            /**
             * Acceptance Criteria
             * @default []
             */
            acceptance_criteria?: string[];
            /** Pipeline */
            pipeline?: string | null;
            /** Agent */
            agent?: string | null;
            /** Model */
            model?: string | null;
            /** Project */
            project: string;
            /**
             * Dependencies
             * @default []
             */
            dependencies?: string[];
            /** Starts At */
            starts_at?: string | null;
            race?: components["schemas"]["RaceForm"] | null;
        };
        /** NewToken */
        NewToken: {
            /** Name */
            name: string;
            /**
             * Role
             * @default member
             */
            role?: string;
        };
        /**
         * NodeEdit
         * @description What is left out stays as it is.
         */
        NodeEdit: {
            /**
             * Text
             * @default
             */
            text?: string;
            /**
             * Tags
             * @default []
             */
            tags?: string[];
            /** Severity */
            severity?: string | null;
            /**
             * Detail
             * @default {}
             */
            detail?: {
                [key: string]: string | boolean;
            };
            /** Expect Version */
            expect_version?: number | null;
        };
        /**
         * NodeKind
         * @enum {string}
         */
        NodeKind: "task" | "pattern" | "gotcha" | "decision" | "question";
        /**
         * NodeState
         * @enum {string}
         */
        NodeState: "active" | "stale" | "contradicted" | "retired";
        /** NodeView */
        NodeView: {
            node: components["schemas"]["KnowledgeNode"];
            project: components["schemas"]["ProjectRef"];
            /** Tasks */
            tasks: components["schemas"]["TaskRef"][];
            /** Related */
            related: components["schemas"]["RelatedNode"][];
        };
        /** Noticed */
        Noticed: {
            /** Pulls */
            pulls: number;
        };
        /**
         * Occasion
         * @enum {string}
         */
        Occasion: "question" | "reminder" | "failure" | "done" | "notice" | "digest";
        /** OfTask */
        OfTask: {
            handoff: components["schemas"]["Handoff"] | null;
            /** Blockers */
            blockers: components["schemas"]["Blocker"][];
        };
        /** OutcomePart */
        OutcomePart: {
            /** Name */
            name: string;
            /** Meaning */
            meaning: string;
            /** Payload */
            payload: {
                [key: string]: unknown;
            } | null;
            /** Payload Required */
            payload_required: boolean;
            prompt: components["schemas"]["PromptType"] | null;
            /** Answer */
            answer: {
                [key: string]: unknown;
            } | null;
        };
        /**
         * Output
         * @description A line that the agent printed, as messages for people: `assistant` and `output` with `text`,
         *     `tool_use` with `name` and `input`, `tool_result` with `name`, `ok` and the `text` that it
         *     returned (both with the `id` of the call, if the agent has one), `usage`, `result` with `text`
         *     or `error`.
         */
        Output: {
            /** Turn */
            turn: number;
            /** Offset */
            offset: number;
            /** Messages */
            messages: {
                [key: string]: unknown;
            }[];
        };
        /** Overrides */
        Overrides: {
            /** Role */
            role: {
                [key: string]: unknown;
            };
            /** Task */
            task: {
                [key: string]: unknown;
            };
            /** Hook */
            hook: {
                [key: string]: unknown;
            };
            /** Run */
            run: {
                [key: string]: unknown;
            };
        };
        /** Parts */
        Parts: {
            /** Guards */
            guards: components["schemas"]["GuardPart"][];
            /** Hooks */
            hooks: components["schemas"]["HookPart"][];
            /** Outcomes */
            outcomes: components["schemas"]["OutcomePart"][];
            /** Built In */
            built_in: string[];
        };
        /** PathStep */
        PathStep: {
            visit: components["schemas"]["Visit"];
            by: components["schemas"]["Actor"] | null;
        };
        /** Performance */
        Performance: {
            /** Agent */
            agent: string | null;
            work: components["schemas"]["Work"];
            merges: components["schemas"]["Merges"];
        };
        /** PerformanceReport */
        PerformanceReport: {
            /** Since */
            since: string | null;
            lead_s: components["schemas"]["Spread"];
            waiting_s: components["schemas"]["Spread"];
            working_s: components["schemas"]["Spread"];
            review_rounds: components["schemas"]["Spread"];
            first_pass: components["schemas"]["FirstPass"];
            /** Failures */
            failures: components["schemas"]["Failure"][];
            /** Agents */
            agents: components["schemas"]["AgentShare"][];
            /** Days */
            days: components["schemas"]["DayShare"][];
        };
        /** Phase */
        Phase: {
            /** Id */
            id: string;
            /** Position */
            position: number;
            /** Number */
            number: number;
            /** Name */
            name: string;
            /** Description */
            description: string;
            /** Complexity */
            complexity: string;
            status: components["schemas"]["PhaseStatus"];
        };
        /** PhaseOrder */
        PhaseOrder: {
            /** Numbers */
            numbers: number[];
        };
        /**
         * PhaseStatus
         * @enum {string}
         */
        PhaseStatus: "pending" | "active" | "done" | "skipped";
        /** Phases */
        Phases: {
            /** Items */
            items: components["schemas"]["Phase"][];
        };
        /** PickForm */
        PickForm: {
            /** Run */
            run: string;
        };
        /** Pipeline */
        Pipeline: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Version */
            version: number;
            /** Description */
            description: string;
            handoff: components["schemas"]["HandoffRule"];
            /** Statuses */
            statuses: components["schemas"]["Status"][];
            /** Transitions */
            transitions: components["schemas"]["Transition"][];
        };
        /** PipelineCounts */
        PipelineCounts: {
            /** Pipeline Id */
            pipeline_id: string;
            /** Version */
            version: number;
            /** Statuses */
            statuses: components["schemas"]["StatusCount"][];
            /** Transitions */
            transitions: components["schemas"]["TransitionCount"][];
        };
        /** PipelineFile */
        PipelineFile: {
            /** Name */
            name: string;
            /** Path */
            path: string;
            /** Pipeline Id */
            pipeline_id: string | null;
            /** Version */
            version: number | null;
            /** Errors */
            errors: string[];
        };
        /** PipelineFiles */
        PipelineFiles: {
            /** Items */
            items: components["schemas"]["PipelineFile"][];
            /** Next */
            next: string | null;
        };
        /**
         * PipelineForm
         * @description One that is saved, by its id, or a document that is not.
         */
        PipelineForm: {
            /** Pipeline */
            pipeline?: string | null;
            /** Version */
            version?: number | null;
            /** Document */
            document?: {
                [key: string]: unknown;
            } | null;
            /** Project */
            project?: string | null;
        };
        /** PipelineVersion */
        PipelineVersion: {
            /** Version */
            version: number;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Tasks */
            tasks: number;
        };
        /** PipelineVersions */
        PipelineVersions: {
            /** Items */
            items: components["schemas"]["PipelineVersion"][];
            /** Next */
            next: string | null;
        };
        /** Pipelines */
        Pipelines: {
            /** Items */
            items: components["schemas"]["Pipeline"][];
            /** Next */
            next: string | null;
        };
        /** Plugin */
        Plugin: {
            /** Package */
            package: string;
            /** Version */
            version: string;
            /** Entry Point */
            entry_point: string;
            /** Guards */
            guards: string[];
            /** Hooks */
            hooks: string[];
            /** Outcomes */
            outcomes: string[];
            /** Rankers */
            rankers: string[];
            /** Agents */
            agents: string[];
            /** Forges */
            forges: string[];
            /** Channels */
            channels: string[];
            /** Checks */
            checks: string[];
            /** Pipelines */
            pipelines: string[];
            /** Error */
            error: string | null;
        };
        /** Plugins */
        Plugins: {
            /** Items */
            items: components["schemas"]["Plugin"][];
            /** Next */
            next: string | null;
        };
        /**
         * Policy
         * @enum {string}
         */
        Policy: "required" | "best_effort" | "fire_and_forget";
        /** Preview */
        Preview: {
            /** Next */
            next: string[];
        };
        /**
         * Priority
         * @enum {string}
         */
        Priority: "critical" | "high" | "normal";
        /** Project */
        Project: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Path */
            path: string;
            /** Remote */
            remote: string | null;
            /** Places */
            places: components["schemas"]["ProjectPlace"][];
            /** Away */
            away: string | null;
            /** Base Branch */
            base_branch: string;
            /** Commands Trusted */
            commands_trusted: boolean;
            /** Changed Commands */
            changed_commands: string[];
            /** Config Errors */
            config_errors: string[];
            /** Config Kept */
            config_kept: boolean;
            /** Consented At */
            consented_at: string | null;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /** ProjectEdit */
        ProjectEdit: {
            /** Remote */
            remote: string | null;
        };
        /** ProjectPlace */
        ProjectPlace: {
            /** Host */
            host: string;
            /** Name */
            name: string;
            /** Path */
            path: string;
        };
        /** ProjectRef */
        ProjectRef: {
            /** Id */
            id: string;
            /** Name */
            name: string;
        };
        /** Projects */
        Projects: {
            /** Items */
            items: components["schemas"]["Project"][];
            /** Next */
            next: string | null;
        };
        /** Prompt */
        Prompt: {
            /** Id */
            id: string;
            /** Task Id */
            task_id: string;
            /** Run Id */
            run_id: string | null;
            type: components["schemas"]["PromptType"];
            /** Payload */
            payload: {
                [key: string]: unknown;
            };
            /** Note */
            note: string | null;
            /** Revision */
            revision: number;
            status: components["schemas"]["PromptStatus"];
            resume: components["schemas"]["ResumePoint"];
            /** Roles */
            roles: string[];
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Expires At */
            expires_at: string | null;
            /** Default At */
            default_at: string | null;
            /** Reminders */
            reminders: number;
            /** Reminded At */
            reminded_at: string | null;
            /** Response */
            response: {
                [key: string]: unknown;
            } | null;
            /** Responded By */
            responded_by: string | null;
            /** Responded Via */
            responded_via: string | null;
            /** Responded At */
            responded_at: string | null;
            /** Undo Until */
            undo_until: string | null;
            /** Midway */
            midway: boolean;
        };
        /**
         * PromptStatus
         * @enum {string}
         */
        PromptStatus: "pending" | "responded" | "expired" | "cancelled" | "superseded";
        /**
         * PromptType
         * @enum {string}
         */
        PromptType: "info_request" | "review" | "document_review" | "split_proposal" | "choice" | "permission" | "budget";
        /** PullRequest */
        PullRequest: {
            /** Id */
            id: string;
            /** Number */
            number: number;
            /** Title */
            title: string;
            /** Body */
            body: string;
            /** Head Branch */
            head_branch: string;
            /** Base Branch */
            base_branch: string;
            /** Head Sha */
            head_sha: string;
            state: components["schemas"]["PullState"];
            /** Merge Sha */
            merge_sha: string | null;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Updated At
             * Format: date-time
             */
            updated_at: string;
            /** Forge */
            forge: string;
            /** Url */
            url: string | null;
            /** Checks */
            checks: string | null;
        };
        /**
         * PullState
         * @enum {string}
         */
        PullState: "open" | "merged" | "closed";
        /** Push */
        Push: {
            /** Key */
            key: string;
            /** On */
            on: boolean;
        };
        /** Race */
        Race: {
            task: components["schemas"]["Task"];
            judge: components["schemas"]["Contender"] | null;
            judge_run: components["schemas"]["Run"] | null;
            /** Reasons */
            reasons: string | null;
            /** Picked */
            picked: string | null;
            /** Prompt */
            prompt: string | null;
            /** Contenders */
            contenders: components["schemas"]["RaceContender"][];
        };
        /** RaceChecks */
        RaceChecks: {
            /** Passed */
            passed: boolean | null;
            /** Ran */
            ran: string[];
            /** Failed */
            failed: string[];
        };
        /** RaceContender */
        RaceContender: {
            contender: components["schemas"]["Contender"];
            run: components["schemas"]["Run"] | null;
            /** Unfit */
            unfit: string | null;
            checks: components["schemas"]["RaceChecks"];
            figures: components["schemas"]["RaceFigures"] | null;
            /** Snapshot */
            snapshot: number | null;
            /** Seconds */
            seconds: number | null;
        };
        /** RaceFigures */
        RaceFigures: {
            /** Run */
            run: string;
            /** Files */
            files: number | null;
            /** Additions */
            additions: number | null;
            /** Deletions */
            deletions: number | null;
            /** Commits */
            commits: string[];
        };
        /** RaceForm */
        RaceForm: {
            /** Contenders */
            contenders: components["schemas"]["ContenderForm"][];
            judge?: components["schemas"]["ContenderForm"] | null;
        };
        /** Readiness */
        Readiness: {
            /** Ready */
            ready: boolean;
            /** Parts */
            parts: components["schemas"]["ReadyPart"][];
        };
        /** ReadyPart */
        ReadyPart: {
            /** Name */
            name: string;
            /** Ok */
            ok: boolean;
            /** Says */
            says: string;
        };
        /** Recalled */
        Recalled: {
            task: components["schemas"]["TaskRef"];
            /** Runs */
            runs: components["schemas"]["RecalledRun"][];
            next: components["schemas"]["RecalledNext"] | null;
        };
        /** RecalledNext */
        RecalledNext: {
            /** Before */
            before: components["schemas"]["TaskRef"][];
            /** Hits */
            hits: components["schemas"]["RecalledNode"][];
            /** Left Out */
            left_out: components["schemas"]["LeftOutNode"][];
        };
        /** RecalledNode */
        RecalledNode: {
            node: components["schemas"]["KnowledgeNode"];
            /** Score */
            score: number;
            /** Why */
            why: string[];
        };
        /** RecalledRun */
        RecalledRun: {
            /** Run Id */
            run_id: string;
            /** Mode */
            mode: string;
            /** Hits */
            hits: components["schemas"]["RecalledNode"][];
        };
        /** RelatedNode */
        RelatedNode: {
            kind: components["schemas"]["EdgeKind"];
            /** Outward */
            outward: boolean;
            node: components["schemas"]["KnowledgeNode"];
        };
        /** RemovedProject */
        RemovedProject: {
            project: components["schemas"]["ProjectRef"];
            /** Tasks */
            tasks: number;
            /** Left */
            left: string[];
        };
        /** Resolve */
        Resolve: {
            /**
             * Note
             * @default
             */
            note?: string;
        };
        /** Restore */
        Restore: {
            /** To */
            to?: string | null;
        };
        /** Restored */
        Restored: {
            task: components["schemas"]["Task"];
            snapshot: components["schemas"]["Snapshot"];
            /** Branch */
            branch: string;
            /** Workspace */
            workspace: string | null;
        };
        /**
         * Result
         * @enum {string}
         */
        Result: "done" | "refused" | "rolled_back" | "forced" | "granted";
        /** ResumePoint */
        ResumePoint: {
            /** Status */
            status: string;
            /** Mode */
            mode: string | null;
            /** Agent */
            agent: string | null;
            /** Session */
            session: string | null;
            /** Run */
            run: string | null;
        };
        /** Retention */
        Retention: {
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Dry Run */
            dry_run: boolean;
            /** Totals */
            totals: {
                [key: string]: components["schemas"]["RetentionTotal"];
            };
            /** Items */
            items: components["schemas"]["RetentionItem"][];
            /** Left */
            left: string[];
            /** Last */
            last: string | null;
            /** Used */
            used: {
                [key: string]: number;
            };
        };
        /** RetentionItem */
        RetentionItem: {
            /** Kind */
            kind: string;
            /** What */
            what: string;
            /** Why */
            why: string;
            /** Count */
            count: number;
            /** Bytes */
            bytes: number | null;
            /** Task Id */
            task_id: string | null;
        };
        /** RetentionTotal */
        RetentionTotal: {
            /** Count */
            count: number;
            /** Bytes */
            bytes: number | null;
        };
        /** Retire */
        Retire: {
            /** Reason */
            reason: string;
        };
        /** Retried */
        Retried: {
            /** Id */
            id: string;
            /** Task Id */
            task_id: string;
            /** Kind */
            kind: string;
            /** Attempt */
            attempt: number;
        };
        /** RetryForm */
        RetryForm: {
            /** Effect */
            effect?: string | null;
        };
        /** RetryRecord */
        RetryRecord: {
            /** Stage */
            stage: number;
            /** Agent */
            agent: string;
            /** Attempt */
            attempt: number;
            /** Issue */
            issue: string;
            /** Improvement */
            improvement: string;
            /**
             * Timestamp
             * Format: date-time
             */
            timestamp: string;
        };
        /** RetrySeen */
        RetrySeen: {
            record: components["schemas"]["RetryRecord"];
            /** Run */
            run: string;
        };
        /** ReviewRound */
        ReviewRound: {
            /** Number */
            number: number;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** By */
            by: string;
            /** Agent */
            agent: boolean;
            /** Verdict */
            verdict: string;
            /** Summary */
            summary: string | null;
            /** Head Sha */
            head_sha: string | null;
            /** Prompt Id */
            prompt_id: string | null;
            /** Run Id */
            run_id: string | null;
        };
        /** Run */
        Run: {
            /** Id */
            id: string;
            /** Task Id */
            task_id: string;
            /** Project Id */
            project_id: string;
            /** Agent */
            agent: string | null;
            /** Mode */
            mode: string;
            /** Model */
            model: string | null;
            status: components["schemas"]["RunStatus"];
            /** Attempt */
            attempt: number;
            /** Session */
            session: string | null;
            /** Outcome */
            outcome: string | null;
            /** Payload */
            payload: {
                [key: string]: unknown;
            } | null;
            error: components["schemas"]["AgentError"] | null;
            usage: components["schemas"]["Usage"] | null;
            /** Cost Usd */
            cost_usd: number | null;
            cost_basis: components["schemas"]["CostBasis"] | null;
            /** Branch */
            branch: string | null;
            /** Base Sha */
            base_sha: string | null;
            /** Head Sha */
            head_sha: string | null;
            /** Workspace */
            workspace: string | null;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Started At */
            started_at: string | null;
            /** Ended At */
            ended_at: string | null;
            /** Phase Id */
            phase_id: string | null;
            /** Sandbox */
            sandbox: string | null;
            /** Transcript Removed At */
            transcript_removed_at: string | null;
            overrides: components["schemas"]["Overrides"];
            /** Settings */
            settings: components["schemas"]["RunSetting"][] | null;
            /** Part */
            part: string;
        };
        /**
         * RunForm
         * @description What is left out is as in the last run of the task.
         */
        RunForm: {
            /** Mode */
            mode?: string | null;
            /** Agent */
            agent?: string | null;
            /** Model */
            model?: string | null;
            /**
             * Settings
             * @default {}
             */
            settings?: {
                [key: string]: unknown;
            };
        };
        /** RunHandoff */
        RunHandoff: {
            /** Run Id */
            run_id: string;
            handoff: components["schemas"]["HandoffNote"] | null;
            /** Source */
            source: string | null;
            /** Completeness */
            completeness: number | null;
            /** Violations */
            violations: components["schemas"]["Violation"][];
        };
        /** RunSetting */
        RunSetting: {
            /** Key */
            key: string;
            /** Value */
            value: unknown;
            /** Layer */
            layer: string;
        };
        /**
         * RunStatus
         * @enum {string}
         */
        RunStatus: "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
        /** Runs */
        Runs: {
            /** Items */
            items: components["schemas"]["Run"][];
            /** Next */
            next: string | null;
        };
        /** SavedPipeline */
        SavedPipeline: {
            pipeline: components["schemas"]["Pipeline"];
            /** New */
            new: boolean;
            /** Behind */
            behind: number;
            /** Warnings */
            warnings: components["schemas"]["Finding"][];
        };
        /** Schedule */
        Schedule: {
            /** Id */
            id: string;
            /** Project Id */
            project_id: string;
            /** Project */
            project: string;
            /** Name */
            name: string;
            /** Rule */
            rule: string;
            /** Zone */
            zone: string;
            template: components["schemas"]["ScheduledTask"];
            /** Start */
            start: boolean;
            when_open: components["schemas"]["WhenOpen"];
            state: components["schemas"]["ScheduleState"];
            /** Reason */
            reason: string | null;
            /** Next At */
            next_at: string | null;
            /** Until */
            until: string | null;
            /** Most */
            most: number | null;
            /** Fired */
            fired: number;
            /** Last Task Id */
            last_task_id: string | null;
            /** Created By */
            created_by: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Updated At
             * Format: date-time
             */
            updated_at: string;
        };
        /**
         * ScheduleEdit
         * @description What is left out stays as it is.
         */
        ScheduleEdit: {
            /**
             * Project
             * @default
             */
            project?: string;
            /**
             * Name
             * @default
             */
            name?: string;
            /**
             * Rule
             * @default
             */
            rule?: string;
            /**
             * Zone
             * @default
             */
            zone?: string;
            task?: components["schemas"]["ScheduledTaskEdit"];
            /**
             * Start
             * @default false
             */
            start?: boolean;
            /**
             * When Open
             * @default skip
             * @enum {string}
             */
            when_open?: "skip" | "queue";
            /** Until */
            until?: string | null;
            /** Most */
            most?: number | null;
        };
        /**
         * ScheduleState
         * @enum {string}
         */
        ScheduleState: "active" | "paused" | "halted" | "ended";
        /** ScheduleView */
        ScheduleView: {
            schedule: components["schemas"]["Schedule"];
            /** Next */
            next: string[];
            /** Firings */
            firings: components["schemas"]["Firing"][];
        };
        /** ScheduledTask */
        ScheduledTask: {
            /** Title */
            title: string;
            /** Description */
            description: string;
            /** Objective */
            objective: string;
            /** Type */
            type: string;
            /** Priority */
            priority: string;
            /** Size */
            size: string;
            /** Complexity */
            complexity: string;
            /** Tags */
            tags: string[];
            /** Acceptance Criteria */
            acceptance_criteria: string[];
            /** Pipeline */
            pipeline: string | null;
            /** Agent */
            agent: string | null;
            /** Model */
            model: string | null;
        };
        /**
         * ScheduledTaskEdit
         * @description What is left out stays as it is.
         */
        ScheduledTaskEdit: {
            /**
             * Title
             * @default
             */
            title?: string;
            /**
             * Description
             * @default
             */
            description?: string;
            /**
             * Objective
             * @default
             */
            objective?: string;
            /**
             * Type
             * @default
             */
            type?: string;
            /**
             * Priority
             * @default
             */
            priority?: string;
            /**
             * Size
             * @default
             */
            size?: string;
            /**
             * Complexity
             * @default
             */
            complexity?: string;
            /**
             * Tags
             * @default []
             */
            tags?: string[];
            /**
             * Acceptance Criteria
             * @default []
             */
            acceptance_criteria?: string[];
            /** Pipeline */
            pipeline?: string | null;
            /** Agent */
            agent?: string | null;
            /** Model */
            model?: string | null;
        };
        /** Schedules */
        Schedules: {
            /** Items */
            items: components["schemas"]["Schedule"][];
        };
        /** Setting */
        Setting: {
            /** Key */
            key: string;
            /** Value */
            value: unknown;
            /**
             * Layer
             * @enum {string}
             */
            layer: "adapter default" | "default" | "user" | "project";
            /** File */
            file: string | null;
            /** Line */
            line: number | null;
        };
        /** Settings */
        Settings: {
            /** Errors */
            errors: string[];
            /** Items */
            items: components["schemas"]["Setting"][];
            /** Next */
            next: string | null;
        };
        /** SettingsEdit */
        SettingsEdit: {
            /** File */
            file: string;
            /** Fingerprint */
            fingerprint: string;
            /** Old */
            old: string | null;
            /** New */
            new: string;
            /** Diff */
            diff: string;
            /** Written */
            written: boolean;
            /** Changed Commands */
            changed_commands: string[];
        };
        /** SettingsForm */
        SettingsForm: {
            /**
             * Set
             * @default {}
             */
            set?: {
                [key: string]: unknown;
            };
            /**
             * Unset
             * @default []
             */
            unset?: string[];
            /**
             * Dry Run
             * @default false
             */
            dry_run?: boolean;
            /** Expect */
            expect?: string | null;
        };
        /**
         * Severity
         * @enum {string}
         */
        Severity: "error" | "warning";
        /** Share */
        Share: {
            /** Key */
            key: string | null;
            /** Name */
            name: string | null;
            spent: components["schemas"]["Spent"];
        };
        /** SimulateForm */
        SimulateForm: {
            /** Pipeline */
            pipeline?: string | null;
            /** Version */
            version?: number | null;
            /** Document */
            document?: {
                [key: string]: unknown;
            } | null;
            /** Project */
            project?: string | null;
            /** Script */
            script: unknown[];
        };
        /** Simulation */
        Simulation: {
            /** Decisions */
            decisions: components["schemas"]["Decided"][];
            /** Status */
            status: string;
            /** Finished */
            finished: boolean;
            /** Waits For */
            waits_for: string;
            /** Visited */
            visited: string[];
            /** Not Visited */
            not_visited: string[];
            /** Plugins */
            plugins: components["schemas"]["Borrowed"][];
        };
        /** SkippedChecks */
        SkippedChecks: {
            /** Items */
            items: string[];
        };
        /** Snapshot */
        Snapshot: {
            /** Number */
            number: number;
            /** Ref */
            ref: string;
            /** Sha */
            sha: string;
            /** Head */
            head: string | null;
            /**
             * Taken At
             * Format: date-time
             */
            taken_at: string;
            /** Files */
            files: string[];
        };
        /** Snapshots */
        Snapshots: {
            /** Items */
            items: components["schemas"]["Snapshot"][];
        };
        /** Spent */
        Spent: {
            /** Runs */
            runs: number;
            /** Unknown */
            unknown: number;
            /** Cost Usd */
            cost_usd: number | null;
        };
        /** Spread */
        Spread: {
            /** Number */
            number: number;
            /** Mean */
            mean: number | null;
            /** Median */
            median: number | null;
        };
        /** StageContext */
        StageContext: {
            /** Context */
            context: {
                [key: string]: unknown;
            };
            /** Agent */
            agent: string;
            /** Markdown */
            markdown: string;
            /** Stages */
            stages: components["schemas"]["StageSeen"][];
            /** Loop Backs */
            loop_backs: components["schemas"]["LoopBackSeen"][];
            /** Retries */
            retries: components["schemas"]["RetrySeen"][];
        };
        /** StageGiven */
        StageGiven: {
            /** Run */
            run: string;
            /** Agent */
            agent: string;
            /** Stage */
            stage: number;
            /** Outputs */
            outputs: {
                [key: string]: string;
            };
            /** Characters */
            characters: number;
            /** Everything */
            everything: number;
        };
        /** StageRun */
        StageRun: {
            /** Id */
            id: string;
            /** Agent */
            agent: string;
            status: components["schemas"]["RunStatus"];
            /** Delivered */
            delivered: boolean;
            /** Error */
            error: string | null;
            /** Trigger */
            trigger: string | null;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Ended At */
            ended_at: string | null;
        };
        /** StageSeen */
        StageSeen: {
            /** Number */
            number: number;
            /** Role */
            role: string;
            /** Title */
            title: string;
            /** Writes */
            writes: boolean;
            standing: components["schemas"]["Standing"];
            /** Reason */
            reason: string | null;
            /** Again */
            again: number;
            /** Output */
            output: unknown;
            /** Runs */
            runs: components["schemas"]["StageRun"][];
        };
        /**
         * Standing
         * @enum {string}
         */
        Standing: "waiting" | "live" | "asking" | "done" | "failed" | "skipped";
        /** StartForm */
        StartForm: {
            /** Expect Version */
            expect_version?: number | null;
        };
        /** StartMany */
        StartMany: {
            /**
             * Tasks
             * @default []
             */
            tasks?: string[];
            /** Project */
            project?: string | null;
            /** At */
            at?: string | null;
        };
        /** StartResult */
        StartResult: {
            task: components["schemas"]["Task"];
            state: components["schemas"]["StartState"];
            /** Reason */
            reason: string;
        };
        /** StartResults */
        StartResults: {
            /** Items */
            items: components["schemas"]["StartResult"][];
        };
        /**
         * StartState
         * @enum {string}
         */
        StartState: "started" | "waiting" | "scheduled" | "refused";
        /** StartTime */
        StartTime: {
            /** At */
            at: string | null;
            /** Expect Version */
            expect_version?: number | null;
        };
        /**
         * State
         * @enum {string}
         */
        State: "open" | "changed" | "resolved";
        /** StatsReport */
        StatsReport: {
            /** Since */
            since: string | null;
            work: components["schemas"]["Work"];
            merges: components["schemas"]["Merges"];
            /** Agents */
            agents: components["schemas"]["Performance"][];
        };
        /** Status */
        Status: {
            /** Id */
            id: string;
            /** Title */
            title: string;
            /** Color */
            color: string | null;
            category: components["schemas"]["Category"];
            /** Position */
            position: number;
            /** Stage */
            stage: number | null;
            /** Role */
            role: string | null;
            prompt: components["schemas"]["StatusPrompt"] | null;
            handoff: components["schemas"]["HandoffRule"] | null;
        };
        /** StatusCount */
        StatusCount: {
            /** Status */
            status: string;
            /** Tasks */
            tasks: number;
            /** Visits */
            visits: number;
            /** Median S */
            median_s: number | null;
            /** Mean S */
            mean_s: number | null;
        };
        /** StatusPrompt */
        StatusPrompt: {
            type: components["schemas"]["PromptType"];
            /** Expires After */
            expires_after: number | null;
            /** Roles */
            roles: string[];
        };
        /** Stay */
        Stay: {
            /** Status */
            status: string;
            /** Visits */
            visits: number;
            /** Again */
            again: number;
            /** Seconds */
            seconds: number;
        };
        /**
         * Stranger
         * @description Somebody who wrote there, is not known and got no answer.
         */
        Stranger: {
            /** Person */
            person: string;
            /** Called */
            called: string;
            /** Times */
            times: number;
            /**
             * Last At
             * Format: date-time
             */
            last_at: string;
        };
        /**
         * Subscription
         * @description As a browser tells it.
         */
        Subscription: {
            /** Endpoint */
            endpoint: string;
            keys: components["schemas"]["SubscriptionKeys"];
        };
        /** SubscriptionKeys */
        SubscriptionKeys: {
            /** P256Dh */
            p256dh: string;
            /** Auth */
            auth: string;
        };
        /** TagCount */
        TagCount: {
            /** Tag */
            tag: string;
            /** Count */
            count: number;
        };
        /** Tags */
        Tags: {
            /** Items */
            items: components["schemas"]["TagCount"][];
        };
        /** Target */
        Target: {
            /** Status */
            status: string;
            /** Title */
            title: string;
            category: components["schemas"]["Category"];
            /** Current */
            current: boolean;
            /** Allowed */
            allowed: boolean;
            /** Stops Run */
            stops_run: boolean;
            /** Reasons */
            reasons: string[];
        };
        /** Targets */
        Targets: {
            /** Items */
            items: components["schemas"]["Target"][];
        };
        /** Task */
        Task: {
            /** Id */
            id: string;
            /** Project Id */
            project_id: string;
            /** Title */
            title: string;
            /** Description */
            description: string;
            /** Objective */
            objective: string;
            /** Type */
            type: string;
            /** Priority */
            priority: string;
            /** Size */
            size: string;
            /** Complexity */
            complexity: string;
            /** Tags */
            tags: string[];
            /** Acceptance Criteria */
            acceptance_criteria: string[];
            /** Dependencies */
            dependencies: string[];
            /** Pipeline Id */
            pipeline_id: string;
            /** Pipeline Version */
            pipeline_version: number;
            /** Status */
            status: string;
            /** Plan */
            plan: string | null;
            /** Version */
            version: number;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Updated At
             * Format: date-time
             */
            updated_at: string;
            /** Starts At */
            starts_at: string | null;
            /** Agent */
            agent: string | null;
            /** Model */
            model: string | null;
        };
        /**
         * TaskEdit
         * @description What is left out stays as it is.
         */
        TaskEdit: {
            /**
             * Title
             * @default
             */
            title?: string;
            /**
             * Description
             * @default
             */
            description?: string;
            /**
             * Objective
             * @default
             */
            objective?: string;
            /**
             * Type
             * @default
             */
            type?: string;
            /**
             * Priority
             * @default
             */
            priority?: string;
            /**
             * Size
             * @default
             */
            size?: string;
            /**
             * Complexity
             * @default
             */
            complexity?: string;
            /**
             * Tags
             * @default []
             */
            tags?: string[];
            /**
             * Acceptance Criteria
             * @default []
             */
            acceptance_criteria?: string[];
            /**
             * Dependencies
             * @default []
             */
            dependencies?: string[];
            /** Agent */
            agent?: string | null;
            /** Model */
            model?: string | null;
            /** Expect Version */
            expect_version?: number | null;
        };
        /** TaskImport */
        TaskImport: {
            /** Project */
            project: string;
            /**
             * Format
             * @enum {string}
             */
            format: "md" | "csv" | "json";
            /** Text */
            text: string;
            /**
             * Source
             * @default
             */
            source?: string;
            /**
             * Dry Run
             * @default false
             */
            dry_run?: boolean;
            /**
             * Start
             * @default false
             */
            start?: boolean;
            /** Starts At */
            starts_at?: string | null;
        };
        /** TaskPath */
        TaskPath: {
            /** Steps */
            steps: components["schemas"]["PathStep"][];
            /** Totals */
            totals: components["schemas"]["Stay"][];
        };
        /** TaskRef */
        TaskRef: {
            /** Id */
            id: string;
            /** Title */
            title: string;
            /** Status */
            status: string;
        };
        /** TaskView */
        TaskView: {
            task: components["schemas"]["Task"];
            project: components["schemas"]["ProjectRef"];
            status: components["schemas"]["Status"];
            next_mover: components["schemas"]["Mover"];
            /** Why */
            why: string;
            /** Prompts */
            prompts: components["schemas"]["Prompt"][];
            run: components["schemas"]["Run"] | null;
            /** Runs */
            runs: components["schemas"]["Run"][];
            /** Moves */
            moves: components["schemas"]["Move"][];
            /** Artifacts */
            artifacts: components["schemas"]["Artifact"][];
            /** Phases */
            phases: components["schemas"]["Phase"][];
            pull: components["schemas"]["PullRequest"] | null;
            memory: components["schemas"]["OfTask"];
            /** Raced */
            raced: boolean;
            /** Skipped Checks */
            skipped_checks: string[];
        };
        /** Tasks */
        Tasks: {
            /** Items */
            items: components["schemas"]["Task"][];
            /** Next */
            next: string | null;
        };
        /** ToCurate */
        ToCurate: {
            node: components["schemas"]["KnowledgeNode"];
            /** Reason */
            reason: string;
            other: components["schemas"]["KnowledgeNode"] | null;
        };
        /**
         * Token
         * @description What lets somebody in, without the secret itself.
         */
        Token: {
            /** Id */
            id: string;
            kind: components["schemas"]["KeyKind"];
            /** Name */
            name: string;
            /** Role */
            role: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Used At */
            used_at: string | null;
            /** Expires At */
            expires_at: string | null;
        };
        /** TokenMade */
        TokenMade: {
            /** Token */
            token: string;
            about: components["schemas"]["Token"];
        };
        /** Tokens */
        Tokens: {
            /** Items */
            items: components["schemas"]["Token"][];
        };
        /**
         * Transcript
         * @description A part of what the agent wrote. Offsets count bytes; `next_offset` is where to go on.
         */
        Transcript: {
            /** Run Id */
            run_id: string;
            /** Turn */
            turn: number;
            /** Turns */
            turns: number;
            /** Offset */
            offset: number;
            /** Next Offset */
            next_offset: number;
            /** Size */
            size: number;
            /** Live */
            live: boolean;
            /** Text */
            text: string;
            /** Removed At */
            removed_at: string | null;
            /** Missing */
            missing: string | null;
        };
        /** Transition */
        Transition: {
            /** Id */
            id: string;
            /** From */
            from: string;
            /** To */
            to: string;
            /** Title */
            title: string;
            trigger: components["schemas"]["Trigger"];
            /** Guards */
            guards: components["schemas"]["Guard"][];
            /** Hooks */
            hooks: components["schemas"]["Hook"][];
        };
        /** TransitionCount */
        TransitionCount: {
            /** Transition Id */
            transition_id: string;
            /** Times */
            times: number;
        };
        /** Trigger */
        Trigger: {
            type: components["schemas"]["TriggerType"];
            /** Outcome */
            outcome: string | null;
        };
        /**
         * TriggerType
         * @enum {string}
         */
        TriggerType: "manual" | "agent_outcome" | "agent_error" | "prompt_response" | "review_submitted" | "auto" | "loop_back" | "any";
        /** Undone */
        Undone: {
            prompt: components["schemas"]["Prompt"];
            task: components["schemas"]["Task"];
        };
        /** Usage */
        Usage: {
            /** Input Tokens */
            input_tokens: number | null;
            /** Output Tokens */
            output_tokens: number | null;
            /** Cache Read Tokens */
            cache_read_tokens: number | null;
            /** Cache Write Tokens */
            cache_write_tokens: number | null;
            /** Cost Usd */
            cost_usd: number | null;
        };
        /**
         * Violation
         * @description Why a handoff could not be taken.
         */
        Violation: {
            /** Field */
            field: string;
            /** Wrong */
            wrong: string;
            /** Right */
            right: string;
        };
        /** Visit */
        Visit: {
            /** Status */
            status: string;
            /**
             * Entered
             * Format: date-time
             */
            entered: string;
            /** Left */
            left: string | null;
            /** Seconds */
            seconds: number | null;
            /** Transition Id */
            transition_id: string | null;
            /** Trigger */
            trigger: string | null;
        };
        /**
         * WhenOpen
         * @description What happens when the task of the last time is not finished.
         * @enum {string}
         */
        WhenOpen: "skip" | "queue";
        /** Why */
        Why: {
            task: components["schemas"]["Task"];
            next_mover: components["schemas"]["Mover"];
            /** Why */
            why: string;
        };
        /** Work */
        Work: {
            /** Completed */
            completed: number;
            /** Failed */
            failed: number;
            /** Cancelled */
            cancelled: number;
            /** Live */
            live: number;
            /** Success Rate */
            success_rate: number | null;
            /** Mean Duration S */
            mean_duration_s: number | null;
            spent: components["schemas"]["Spent"];
        };
    };
    responses: {
        /** @description What went wrong, and the way out. */
        Error: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: {
        /** @description Any text of up to 200 visible characters; a new one for each action. */
        "Idempotency-Key": string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    get_health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_readiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            401: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    log_in: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Login"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    log_out: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            401: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_projects: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Projects"];
                };
            };
            401: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    add_project: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewProject"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            401: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_project: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    remove_project: {
        parameters: {
            query?: {
                force?: boolean;
                stop?: boolean;
            };
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemovedProject"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    change_project: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectEdit"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_forge: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ForgeState"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_settings: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Settings"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    change_settings: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettingsForm"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettingsEdit"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    change_user_settings: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettingsForm"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettingsEdit"];
                };
            };
            401: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    trust_project: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    give_consent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    withdraw_consent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_pipelines: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pipelines"];
                };
            };
            401: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    add_pipeline: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedPipeline"];
                };
            };
            401: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_pipeline: {
        parameters: {
            query?: {
                version?: number | null;
            };
            header?: never;
            path: {
                pipeline_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pipeline"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_pipeline_counts: {
        parameters: {
            query?: {
                project?: string | null;
            };
            header?: never;
            path: {
                pipeline_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PipelineCounts"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_pipeline_document: {
        parameters: {
            query?: {
                version?: number | null;
            };
            header?: never;
            path: {
                pipeline_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_pipeline_versions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                pipeline_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PipelineVersions"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    migrate_tasks: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                pipeline_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MigrateForm"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Migration"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_project_pipelines: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PipelineFiles"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    lint_pipeline: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PipelineForm"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LintReport"];
                };
            };
            401: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    simulate_pipeline: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SimulateForm"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Simulation"];
                };
            };
            401: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_parts: {
        parameters: {
            query?: {
                project?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Parts"];
                };
            };
            401: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_plugins: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plugins"];
                };
            };
            401: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_board: {
        parameters: {
            query?: {
                project?: string | null;
                task?: string[] | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Board"];
                };
            };
            401: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_channels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channels"];
                };
            };
            401: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_channel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    send_channel_test: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelTest"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    allow_person: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                name: string;
                person: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AllowPerson"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    deny_person: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                name: string;
                person: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_tasks: {
        parameters: {
            query?: {
                cursor?: string | null;
                limit?: number;
                project?: string | null;
                status?: string | null;
                title?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tasks"];
                };
            };
            401: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    create_task: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTask"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            401: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_task: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskView"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    delete_task: {
        parameters: {
            query?: {
                force?: boolean;
                stop?: boolean;
            };
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    edit_task: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskEdit"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Edited"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    start_task: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["StartForm"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Moved"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    move_task: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MoveForm"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Moved"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_targets: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Targets"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_changes: {
        parameters: {
            query?: {
                since?: number | null;
            };
            header?: never;
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Changes"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_changed_file: {
        parameters: {
            query: {
                since?: number | null;
                path: string;
            };
            header?: never;
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileChange"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    grant_rounds: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    review_task: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answered"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_history: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Histories"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_path: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskPath"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_events: {
        parameters: {
            query?: {
                after_seq?: number;
                limit?: number;
            };
            header?: never;
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Events"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_diff: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    import_tasks: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskImport"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportedTasks"];
                };
            };
            401: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    import_issues: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IssueImport"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportedTasks"];
                };
            };
            401: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    start_tasks: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartMany"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartResults"];
                };
            };
            401: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    set_start_time: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartTime"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    explain_task: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Why"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    start_run: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RunForm"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    retry_hook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RetryForm"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Retried"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    restore_check: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                task_id: string;
                check: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkippedChecks"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_race: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Race"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    start_race: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RaceForm"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_contenders_diff: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                task_id: string;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    pick_contender: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PickForm"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_phases: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Phases"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    skip_phase: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                task_id: string;
                number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Phases"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    reorder_phases: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PhaseOrder"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Phases"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_schedules: {
        parameters: {
            query?: {
                project?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedules"];
                };
            };
            401: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    add_schedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSchedule"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            401: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    preview_rule: {
        parameters: {
            query: {
                rule: string;
                zone?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Preview"];
                };
            };
            401: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_schedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                schedule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleView"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    remove_schedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                schedule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    edit_schedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                schedule_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScheduleEdit"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    pause_schedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                schedule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    resume_schedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                schedule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    run_schedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                schedule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_comments: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Comments"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    add_comment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewComment"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Comment"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    answer_comment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                task_id: string;
                number: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAnswer"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Comment"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    resolve_comment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                task_id: string;
                number: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CommentState"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Comment"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    show_context: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StageContext"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    show_given: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                task_id: string;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StageGiven"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    search_knowledge: {
        parameters: {
            query?: {
                cursor?: string | null;
                limit?: number;
                q?: string;
                tag?: string[];
                kind?: components["schemas"]["NodeKind"][];
                file?: string[];
                state?: components["schemas"]["NodeState"][];
                task?: string | null;
                project?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundNodes"];
                };
            };
            401: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_tags: {
        parameters: {
            query?: {
                project?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tags"];
                };
            };
            401: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_knowledge: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeView"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    edit_knowledge: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                node_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NodeEdit"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeView"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    confirm_knowledge: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                node_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeView"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    retire_knowledge: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                node_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Retire"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeView"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    contradict_knowledge: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                node_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Contradict"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeView"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_curation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CurationQueue"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_knowledge_graph: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeGraph"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_context_map: {
        parameters: {
            query?: {
                cursor?: string | null;
                limit?: number;
                under?: string;
            };
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContextMap"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    export_knowledge: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    import_knowledge: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportedKnowledge"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_agents_md: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_blockers: {
        parameters: {
            query?: {
                project?: string | null;
                all?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Blockers"];
                };
            };
            401: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    resolve_blocker: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                blocker_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Resolve"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BlockerView"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    explain_knowledge: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Recalled"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_prompts: {
        parameters: {
            query?: {
                cursor?: string | null;
                limit?: number;
                project?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Inbox"];
                };
            };
            401: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_prompt: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                prompt_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InboxItem"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    answer_prompt: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                prompt_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answered"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    accept_prompt: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                prompt_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AcceptForm"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answered"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    undo_answer: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                prompt_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Undone"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_runs: {
        parameters: {
            query?: {
                cursor?: string | null;
                limit?: number;
                task?: string | null;
                live?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Runs"];
                };
            };
            401: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_run_prompt: {
        parameters: {
            query?: {
                turn?: number;
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_checks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Checks"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_left_out: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LeftOut"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_handoff: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunHandoff"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_transcript: {
        parameters: {
            query?: {
                turn?: number;
                offset?: number;
                limit?: number;
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Transcript"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    stream_output: {
        parameters: {
            query?: {
                after?: string | null;
            };
            header?: {
                "Last-Event-ID"?: string | null;
            };
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["Output"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    stop_run: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Moved"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    retry_run: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_agents: {
        parameters: {
            query?: {
                project?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agents"];
                };
            };
            401: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_cost: {
        parameters: {
            query?: {
                project?: string | null;
                since?: string | null;
                by?: "project" | "task" | "agent" | "model" | "day";
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CostReport"];
                };
            };
            401: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_stats: {
        parameters: {
            query?: {
                project?: string | null;
                since?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatsReport"];
                };
            };
            401: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_performance: {
        parameters: {
            query?: {
                project?: string | null;
                since?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PerformanceReport"];
                };
            };
            401: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    search_all: {
        parameters: {
            query: {
                q: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Hits"];
                };
            };
            401: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_snapshots: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snapshots"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    restore_snapshot: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                task_id: string;
                number: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Restore"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Restored"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_artifacts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Artifacts"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    collect_artifacts: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Artifacts"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_documents: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Documents"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_document: {
        parameters: {
            query?: {
                version?: number | null;
            };
            header?: never;
            path: {
                task_id: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Document"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    commit_document: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                task_id: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CommitDocument"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommittedDocument"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    compare_documents: {
        parameters: {
            query?: {
                from?: number | null;
                to?: number | null;
            };
            header?: never;
            path: {
                task_id: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_retention: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Retention"];
                };
            };
            401: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    apply_retention: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Retention"];
                };
            };
            401: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_hosts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Hosts"];
                };
            };
            401: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    drain_host: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                host: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Host"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    resume_host: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                host: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Host"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    remove_host: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                host: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Host"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_me: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            401: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_push: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Push"];
                };
            };
            401: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    take_notices: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Subscription"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Push"];
                };
            };
            401: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    take_no_notices: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Push"];
                };
            };
            401: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_tokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tokens"];
                };
            };
            401: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    create_token: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewToken"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenMade"];
                };
            };
            401: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    revoke_token: {
        parameters: {
            query?: never;
            header?: {
                /** @description Any text of up to 200 visible characters; a new one for each action. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                token_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Token"];
                };
            };
            401: components["responses"]["Error"];
            404: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    create_login_link: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginLink"];
                };
            };
            401: components["responses"]["Error"];
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    list_audit: {
        parameters: {
            query?: {
                since?: string | null;
                who?: string | null;
                what?: string | null;
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Audit"];
                };
            };
            401: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    export_audit: {
        parameters: {
            query?: {
                since?: string | null;
                who?: string | null;
                what?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                };
            };
            401: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    get_parts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
            401: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    take_github_webhook: {
        parameters: {
            query?: never;
            header?: {
                "x-hub-signature-256"?: string;
                "x-github-delivery"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Noticed"];
                };
            };
            409: components["responses"]["Error"];
            413: components["responses"]["Error"];
            415: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
    stream_events: {
        parameters: {
            query?: {
                task?: string | null;
                after?: number | null;
            };
            header?: {
                "Last-Event-ID"?: number | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["Event"];
                };
            };
            401: components["responses"]["Error"];
            422: components["responses"]["Error"];
            default: components["responses"]["Error"];
        };
    };
}
