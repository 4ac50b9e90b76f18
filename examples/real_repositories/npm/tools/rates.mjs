// An MCP server over standard input and output with one tool: the surcharge of a service, in cents.

import { createInterface } from "node:readline";

const SURCHARGES = { express: 450, insured: 275 };

const TOOL = {
  name: "surcharge",
  description: "Return the surcharge of a parcel service in cents.",
  inputSchema: {
    type: "object",
    properties: { service: { type: "string", enum: Object.keys(SURCHARGES) } },
    required: ["service"],
  },
};

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "rates", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [TOOL] }),
  "tools/call": ({ arguments: { service } }) => ({
    content: [{ type: "text", text: `The ${service} surcharge is ${SURCHARGES[service]} cents.` }],
    isError: !(service in SURCHARGES),
  }),
};

function reply({ id, method, params }) {
  const answer = METHODS[method];
  return answer
    ? { jsonrpc: "2.0", id, result: answer(params ?? {}) }
    : { jsonrpc: "2.0", id, error: { code: -32601, message: `Unknown method "${method}".` } };
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.id !== undefined) console.log(JSON.stringify(reply(message)));
}
