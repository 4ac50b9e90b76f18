import { Link, useSearch } from "@tanstack/react-router";
import { cx } from "@/kit/cx";
import { Page } from "@/kit/Page";
import { Access } from "./Access";
import { Agents } from "./Agents";
import { Appearance } from "./Appearance";
import { Audit } from "./Audit";
import { Channels } from "./Channels";
import { Configuration } from "./Configuration";

const SECTIONS = [
  ["appearance", "This browser", Appearance],
  ["project", "Configuration", Configuration],
  ["agents", "Agents", Agents],
  ["channels", "Channels", Channels],
  ["access", "Access", Access],
  ["audit", "Record", Audit],
] as const;

export function Settings() {
  const { section } = useSearch({ from: "/frame/settings" });
  const [id, , Shown] = SECTIONS.find(([each]) => each === section) ?? SECTIONS[0];
  return (
    <Page title="Settings">
      <nav aria-label="Sections" className="flex gap-1 overflow-x-auto border-b">
        {SECTIONS.map(([each, words]) => (
          <Link
            key={each}
            to="/settings"
            search={(before) => ({ ...before, section: each })}
            aria-current={each === id ? "page" : undefined}
            className={cx(
              "-mb-px border-b-2 border-transparent px-3 py-2 whitespace-nowrap text-ink-2 hover:text-ink",
              each === id && "border-accent font-medium text-ink",
            )}
          >
            {words}
          </Link>
        ))}
      </nav>
      <Shown />
    </Page>
  );
}
