export function Costs() {
  return null;
}
