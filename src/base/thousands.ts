/**
 * A count with its thousands apart, as in 1,024. The first toLocaleString of a process loads the data of all languages,
 * which every start of a command would wait for.
 */
export function withThousands(count: number): string {
  const digits = String(count);
  return digits.length <= 3 ? digits : `${withThousands(Math.floor(count / 1000))},${digits.slice(-3)}`;
}
