import { fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { describe, expect, it } from "vitest";
import { SchemaFields } from "./SchemaFields";
import { blank, faultsByPlace, filled, type JsonSchema, missing, rows, widget } from "./schema";

const TICKET: JsonSchema = {
  type: "object",
  required: ["ticket", "urgent", "contact"],
  properties: {
    ticket: { type: "string", description: "As in SHOP-1" },
    urgent: { type: "boolean" },
    public: { type: "boolean", default: true },
    weight: { type: "integer", minimum: 1 },
    kind: { enum: ["bug", "wish"] },
    notes: { type: "string", format: "markdown" },
    tags: { type: "array", maxItems: 2, items: { type: "string" } },
    contact: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
    other: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
  },
};
const GIVEN = { ticket: "T", urgent: false, contact: { name: "A" } };

describe("a schema", () => {
  it("says how each value is asked for", () => {
    const found = Object.entries(TICKET.properties ?? {}).map(([name, part]) => [
      name,
      widget(part),
    ]);
    expect(Object.fromEntries(found)).toEqual({
      ticket: "text",
      urgent: "boolean",
      public: "boolean",
      weight: "number",
      kind: "choice",
      notes: "lines",
      tags: "list",
      contact: "group",
      other: "group",
    });
  });
  it("begins with its defaults, and sends only what was given", () => {
    expect(blank(TICKET)).toEqual({ public: true, contact: {}, other: {} });
    expect(
      filled(TICKET, { ...GIVEN, notes: " ", weight: 0, tags: [], other: { name: "" } }),
    ).toEqual({ ...GIVEN, weight: 0 });
    expect(filled(TICKET, {})).toEqual({ contact: {} });
  });
  it("tells what is still needed", () => {
    expect(missing(TICKET, { ticket: "", contact: {} })).toEqual([
      "Ticket",
      "Urgent",
      "Contact / Name",
    ]);
    expect(missing(TICKET, GIVEN)).toEqual([]);
    expect(missing(TICKET, { ...GIVEN, tags: ["a", ""], other: { name: "" } })).toEqual([
      "Tags / 2",
    ]);
  });
  it("has the server's faults at their fields", () => {
    expect(
      faultsByPlace(["value.contact.name: is too short", "value: is odd", "no place"]),
    ).toEqual({ "contact.name": "is too short", "": "is odd no place" });
  });
  it("names each thing of a value", () => {
    const value = { kind: "bug", tags: ["a", "b"], files: [{ path: "x" }, { path: null }] };
    expect(rows(value, { properties: { kind: { title: "What" } } })).toEqual([
      { label: "What", text: "bug" },
      { label: "Tags", text: "a, b" },
      { label: "Files / 1 / Path", text: "x" },
      { label: "Files / 2 / Path", text: "none" },
    ]);
  });
});

function Held({ seen }: { seen: (value: unknown) => void }) {
  const [value, setValue] = useState<unknown>(blank(TICKET));
  return (
    <SchemaFields
      schema={TICKET}
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

it("a form made of a schema gives the value that was filled in", () => {
  let value: unknown;
  render(<Held seen={(next) => (value = next)} />);
  const field = (name: string) => screen.getAllByLabelText(name)[0] as HTMLElement;
  const write = (name: string, text: string) =>
    fireEvent.change(field(name), { target: { value: text } });
  write("Ticket", "SHOP-7");
  // Neither is said for anybody; only what may be left out can be.
  expect(screen.getAllByLabelText("No").map((one) => (one as HTMLInputElement).checked)).toEqual([
    false,
    false,
  ]);
  expect(screen.getAllByLabelText("Leave out")).toHaveLength(1);
  fireEvent.click(field("No"));
  fireEvent.click(field("Leave out"));
  write("Weight (may be left out)", "3");
  write("Kind (may be left out)", "1");
  fireEvent.click(screen.getByText("Add"));
  write("Entry 1", "new");
  write("Name", "Ann");
  expect(screen.getByText("does not fit")).toBeInTheDocument();
  expect(screen.getByText("is unknown")).toBeInTheDocument();
  expect(filled(TICKET, value)).toEqual({
    ticket: "SHOP-7",
    urgent: false,
    weight: 3,
    kind: "wish",
    tags: ["new"],
    contact: { name: "Ann" },
  });
});
