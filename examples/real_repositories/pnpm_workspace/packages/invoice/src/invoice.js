import { createHmac } from "node:crypto";
import { fileURLToPath } from "node:url";
import { format } from "@parcel/currency";
import { config } from "dotenv";

const ENV_FILE = fileURLToPath(new URL("../../../.env", import.meta.url));

/** Return the postage of a parcel in cents. */
export function postage(grams) {
  return 500 + 100 * Math.ceil(grams / 1000);
}

/** Return the signing key from the environment or from `.env`; undefined if there is none. */
export function signingKey() {
  const { parsed } = config({ path: ENV_FILE, processEnv: {} });
  return process.env.PARCEL_SIGNING_KEY ?? parsed?.PARCEL_SIGNING_KEY;
}

/** Return the line of an invoice. */
export function line(grams) {
  return `Parcel, ${grams} g: ${format(postage(grams))}`;
}

/** Return the signature of a line. */
export function sign(text) {
  return createHmac("sha256", signingKey()).update(text).digest("hex");
}
