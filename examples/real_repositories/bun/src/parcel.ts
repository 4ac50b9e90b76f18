import { createHmac } from "node:crypto";
import ms from "ms";

/** Return the postage of a parcel in cents. */
export function postage(grams: number): number {
  return 500 + 100 * Math.ceil(grams / 1000);
}

/** Return the number of hours until a delivery such as "2 days". */
export function hoursUntil(delivery: string): number {
  return ms(delivery) / ms("1 hour");
}

/** Return the signature that is printed on a label. Bun reads `.env` itself. */
export function sign(address: string): string {
  const key = process.env.PARCEL_SIGNING_KEY;
  if (!key) throw new Error("PARCEL_SIGNING_KEY is not set");
  return createHmac("sha256", key).update(address).digest("hex");
}
