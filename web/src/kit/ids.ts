/** Returns the one id that starts with `beginning`, or `beginning` itself if none or several do. */
export function completeId(ids: string[], beginning: string): string {
  const found = ids.filter((id) => id.startsWith(beginning));
  return found.length === 1 && found[0] ? found[0] : beginning;
}
