import { createHmac } from "node:crypto";
import { config } from "dotenv";

/** Return the signing key from the environment or from `.env`; undefined if there is none. */
export function signingKey() {
  const { parsed } = config({ processEnv: {} });
  return process.env.PARCEL_SIGNING_KEY ?? parsed?.PARCEL_SIGNING_KEY;
}

/** Return the signature that is printed on a label. */
export function sign(address) {
  return createHmac("sha256", signingKey()).update(address).digest("hex");
}
