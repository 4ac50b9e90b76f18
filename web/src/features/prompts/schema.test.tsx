import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { describe, expect, it } from "vitest";
import { SchemaFields } from "./SchemaFields";
import { blank, faultsByPlace, filled, type JsonSchema, missing, resolved, widget } from "./schema";

const TICKET: JsonSchema = {
  type: "object",
  required: ["ticket", "contact"],
  properties: {
    ticket: { type: "string", description: "As in SHOP-1" },
    urgent: { type: "boolean", default: true },
    weight: { type: "integer", minimum: 1 },
    kind: { enum: ["bug", "wish", 3] },
    tags: { type: "array", items: { type: "string" } },
    contact: { $ref: "#/$defs/person" },
    other: { anyOf: [{ type: "string" }, { type: "number" }] },
  },
  $defs: {
    person: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
    round: { $ref: "#/$defs/round" },
  },
};

describe("a schema", () => {
  it("says how each value is asked for", () => {
    const parts = Object.entries(TICKET.properties ?? {}).map(([name, part]) => [
      name,
      widget(resolved(part, TICKET)),
    ]);
    expect(Object.fromEntries(parts)).toEqual({
      ticket: "text",
      urgent: "boolean",
      weight: "number",
      kind: "choice",
      tags: "list",
      contact: "group",
      other: "json",
    });
  });
  it("whose references go round ends in a field for JSON", () => {
    expect(widget(resolved({ $ref: "#/$defs/round" }, TICKET))).toBe("json");
    const endless: JsonSchema = { type: "object", properties: { below: { $ref: "#" } } };
    expect(blank(endless, endless)).toEqual({ below: { below: { below: { below: {} } } } });
  });
  it("begins with its defaults, and sends only what was given", () => {
    expect(blank(TICKET, TICKET)).toEqual({ urgent: true, tags: [], contact: {} });
    expect(filled({ a: "", b: [undefined, "x"], c: { d: "" }, e: 0, f: false })).toEqual({
      b: ["x"],
      c: {},
      e: 0,
      f: false,
    });
  });
  it("tells what is still needed", () => {
    expect(missing(TICKET, { ticket: "", contact: {} }, TICKET)).toEqual([
      "ticket",
      "contact.name",
    ]);
    expect(missing(TICKET, { ticket: "T", contact: { name: "A" } }, TICKET)).toEqual([]);
  });
  it("has the server's faults at their fields", () => {
    expect(
      faultsByPlace(["value.contact.name: is too short", "value: is odd", "no place"]),
    ).toEqual({ "contact.name": "is too short", "": "is odd no place" });
  });
});

function Held({ seen }: { seen: (value: unknown) => void }) {
  const [value, setValue] = useState<unknown>(blank(TICKET, TICKET));
  return (
    <SchemaFields
      schema={TICKET}
      root={TICKET}
      value={value}
      onChange={(next) => {
        setValue(next);
        seen(next);
      }}
      faults={{ ticket: "does not fit", "contact.name": "is unknown" }}
      path=""
      needed
    />
  );
}

it("a form made of a schema gives the value that was filled in", async () => {
  let value: unknown;
  render(<Held seen={(next) => (value = next)} />);
  const user = userEvent.setup();
  await user.type(screen.getByLabelText("Ticket"), "SHOP-7");
  await user.click(screen.getByLabelText("Urgent"));
  await user.type(screen.getByLabelText("Weight (may be left out)"), "3");
  await user.selectOptions(screen.getByLabelText("Kind (may be left out)"), "3");
  await user.click(screen.getByRole("button", { name: "Add" }));
  await user.type(screen.getByLabelText("Entry 1"), "new");
  await user.type(screen.getByLabelText("Name"), "Ann");
  await user.type(screen.getByLabelText("Other (may be left out)"), "[[1");
  expect(screen.getByText(/not JSON yet/)).toBeInTheDocument();
  expect(screen.getByText("does not fit")).toBeInTheDocument();
  expect(screen.getByText("is unknown")).toBeInTheDocument();
  expect(filled(value)).toEqual({
    ticket: "SHOP-7",
    urgent: false,
    weight: 3,
    kind: 3,
    tags: ["new"],
    contact: { name: "Ann" },
  });
});
