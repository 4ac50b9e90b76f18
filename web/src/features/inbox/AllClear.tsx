import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { queries } from "@/api/queries";
import { answeredToday } from "@/features/prompts/useSender";
import { plural } from "@/kit/text";

/** Nothing to answer: the best state of an inbox deserves a moment. */
export function AllClear({ snoozed, elsewhere }: { snoozed: number; elsewhere: number }) {
  const runs = useQuery(queries.liveRuns()).data?.items;
  const working = runs?.filter((run) => run.status === "running").length;
  const answered = answeredToday();
  return (
    <div className="mx-auto flex max-w-sm flex-col items-center gap-3 px-6 py-20 text-center">
      <svg viewBox="0 0 120 80" aria-hidden="true" className="mb-2 h-24 text-accent">
        <circle cx="60" cy="46" r="17" className="fill-accent-soft" />
        <g stroke="currentColor" strokeWidth="2.5" strokeLinecap="round">
          <path d="M60 16v7M38.8 24.8l4.9 4.9M81.2 24.8l-4.9 4.9M27 46h7M86 46h7" />
          <path d="M43 63a22 22 0 1 1 34 0" fill="none" />
          <path d="M14 64h92M30 72h60" className="text-line-strong" />
          <path d="m52.500 46 5.500 5.500L68.500 41" fill="none" strokeLinejoin="round" />
        </g>
      </svg>
      <p className="text-lg font-semibold">
        Nothing waits for you{elsewhere > 0 && " in this project"}
      </p>
      <p className="text-ink-2">
        {working === undefined
          ? "You are told as soon as an agent needs you."
          : working > 0
            ? `${plural(working, "agent is", "agents are")} at work. You are told as soon as one needs you.`
            : "No agent is at work. Start a task, and come back when it asks."}
      </p>
      {answered > 0 && (
        <p className="rounded-full bg-good-soft px-3 py-1 text-xs font-medium text-good">
          {plural(answered, "question")} answered today
        </p>
      )}
      {elsewhere > 0 && (
        <Link
          to="/inbox"
          search={{ project: undefined }}
          className="py-1 text-you underline underline-offset-2"
        >
          {plural(elsewhere, "question waits", "questions wait")} in others
        </Link>
      )}
      {snoozed > 0 && <p className="text-xs text-ink-3">{snoozed} snoozed</p>}
      <p className="mt-2 flex gap-5 text-accent-text">
        <Link to="/board" className="py-2 hover:underline">
          Look at the board
        </Link>
        <Link to="/runs" className="py-2 hover:underline">
          See who works
        </Link>
      </p>
    </div>
  );
}
