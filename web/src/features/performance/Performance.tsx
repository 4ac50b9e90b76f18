export function Performance() {
  return null;
}
