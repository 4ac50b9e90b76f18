/** Lines like `maxTurns=20`: values are JSON where they can be, else text. A sentence when a line
 * cannot be read. */
export function settingsOf(text: string): Record<string, unknown> | string {
  const found: Record<string, unknown> = {};
  for (const line of text.split("\n")) {
    if (!line.trim()) continue;
    const at = line.indexOf("=");
    const key = line.slice(0, at).trim();
    if (at < 1 || !key) return `"${line.trim()}" is no setting; write it as key=value.`;
    const value = line.slice(at + 1).trim();
    try {
      found[key] = JSON.parse(value);
    } catch {
      found[key] = value;
    }
  }
  return found;
}
