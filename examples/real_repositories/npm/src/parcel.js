/** Return the postage of a parcel in cents. */
export function postage(grams) {
  return 500 + 100 * Math.ceil(grams / 1000);
}
