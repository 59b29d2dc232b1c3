/** What a key has used of its monthly limit, as a bar and in words. */

interface QuotaMeterProps {
  readonly used: number;
  /** null without a limit. */
  readonly limit: number | null;
  readonly label: string;
}

const NEARLY_FULL = 0.9;

export function QuotaMeter({ used, limit, label }: QuotaMeterProps) {
  const usedText = used.toLocaleString("en");
  if (limit === null) return <span>{usedText}, no limit</span>;
  return (
    <span class="quota">
      <meter aria-label={label} min={0} max={limit} high={limit * NEARLY_FULL} optimum={0} value={used} />
      <span>
        {usedText} of {limit.toLocaleString("en")}
      </span>
    </span>
  );
}
