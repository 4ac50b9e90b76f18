import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import type { Schemas } from "@/api/client";
import { money } from "@/kit/text";

export default function Bars({ shares }: { shares: Schemas["Share"][] }) {
  const rows = shares.map((share) => ({ day: share.key ?? "", usd: share.spent.cost_usd ?? 0 }));
  return (
    <ResponsiveContainer width="100%" height="100%">
      <BarChart data={rows} accessibilityLayer>
        <CartesianGrid vertical={false} stroke="var(--line)" />
        <XAxis dataKey="day" tick={{ fill: "var(--ink-3)", fontSize: 11 }} stroke="var(--line)" />
        <YAxis
          width={48}
          tickFormatter={(value: number) => `$${value}`}
          tick={{ fill: "var(--ink-3)", fontSize: 11 }}
          stroke="var(--line)"
        />
        <Tooltip
          cursor={{ fill: "var(--hover)" }}
          formatter={(value) => [money(Number(value)), "spent"]}
          contentStyle={{
            background: "var(--raised)",
            border: "1px solid var(--line)",
            borderRadius: 8,
          }}
        />
        <Bar
          maxBarSize={40}
          dataKey="usd"
          fill="var(--accent)"
          radius={[3, 3, 0, 0]}
          isAnimationActive={false}
        />
      </BarChart>
    </ResponsiveContainer>
  );
}
