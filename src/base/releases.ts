/** The order of releases, by their version as semantic versioning has it: 1.2.0-rc.1, 1.2.0, 1.10.0. */

export function isOlderRelease(version: string, than: string): boolean {
  const [a, b] = [partsOf(version), partsOf(than)];
  const numbers = differenceOf(a.numbers, b.numbers);
  if (numbers !== 0) return numbers < 0;
  // What comes before a release is older than the release.
  if (a.before.length === 0 || b.before.length === 0) return a.before.length > 0 && b.before.length === 0;
  return differenceOf(a.before, b.before) < 0;
}

function partsOf(version: string) {
  const [release = "", ...before] = version.replace(/\+.*/s, "").split("-");
  return { numbers: release.split("."), before: before.length === 0 ? [] : before.join("-").split(".") };
}

/** Below zero where the first list comes first: numbers by their size and before texts, a shorter list first. */
function differenceOf(a: readonly string[], b: readonly string[]): number {
  for (const [i, one] of a.entries()) {
    const other = b[i];
    if (other === undefined) return 1;
    if (one === other) continue;
    const [isNumber, isOtherNumber] = [one, other].map((part) => /^\d+$/.test(part));
    if (isNumber && isOtherNumber) return Number(one) - Number(other);
    if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
    return one < other ? -1 : 1;
  }
  return a.length - b.length;
}
