// Types of the HTTP interface, from ../openapi.json. The first line names the document they were
// made from, so that a check in Python sees when they are stale.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const source = new URL("../openapi.json", import.meta.url);
const target = new URL("../src/api/schema.d.ts", import.meta.url);
const text = readFileSync(source, "utf8");
const digest = createHash("sha256").update(text).digest("hex");
const types = astToString(await openapiTS(JSON.parse(text), { defaultNonNullable: false }));
writeFileSync(target, `// From openapi.json ${digest}; write it again with: npm run api\n${types}`);
