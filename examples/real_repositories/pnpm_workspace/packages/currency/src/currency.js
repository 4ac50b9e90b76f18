/** Return an amount of cents as people read it, such as "6.00 EUR". */
export function format(cents) {
  return `${(cents / 100).toFixed(2)} EUR`;
}
