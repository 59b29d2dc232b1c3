/**
 * What a key has used: of its monthly limit, as a meter; and by day, as bars (uPlot), with the same figures as a table for
 * those who cannot see them. Days without writes are drawn as zero. Days are in UTC, like the limits.
 */

import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { UsageDaysAnswer } from "../../contract/answers.ts";

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

interface UsageChartProps extends UsageDaysAnswer {
  readonly label: string;
}

const DAY_S = 86_400;
const HEIGHT = 190;
const DAYS_MAX = 400;

export function UsageChart({ from, to, days, label }: UsageChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const data = useMemo(() => seriesOf(from, to, days), [from, to, days]);

  useEffect(() => {
    const element = frame.current!;
    let plot: uPlot | undefined;
    const draw = () => {
      plot?.destroy();
      plot = new uPlot(optionsOf(element, label), data, element);
    };
    draw();
    const observer = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", draw);
    return () => {
      observer.disconnect();
      scheme.removeEventListener("change", draw);
      plot?.destroy();
    };
  }, [data, label]);

  const total = days.reduce((sum, { count }) => sum + count, 0);
  return (
    <figure class="usage">
      <div
        ref={frame}
        class="chart"
        role="img"
        aria-label={`${label}: ${total.toLocaleString("en")} facts from ${from} to ${to}`}
      />
      <details>
        <summary>The same as a table</summary>
        <table>
          <caption>{label}, days with writes</caption>
          <thead>
            <tr>
              <th scope="col">Day (UTC)</th>
              <th scope="col" class="number">
                Facts written
              </th>
            </tr>
          </thead>
          <tbody>
            {days.map(({ day, count }) => (
              <tr key={day}>
                <th scope="row">{day}</th>
                <td class="number">{count.toLocaleString("en")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

function seriesOf(from: string, to: string, days: UsageDaysAnswer["days"]): [number[], number[]] {
  const counts = new Map(days.map(({ day, count }) => [day, count]));
  const last = Date.parse(to) / 1000;
  const times: number[] = [];
  for (let time = Date.parse(from) / 1000; time <= last && times.length < DAYS_MAX; time += DAY_S)
    times.push(time);
  return [times, times.map((time) => counts.get(dayText(time)) ?? 0)];
}

function dayText(timeS: number): string {
  return new Date(timeS * 1000).toISOString().slice(0, 10);
}

function optionsOf(element: HTMLElement, label: string): uPlot.Options {
  const style = getComputedStyle(element);
  const colourOf = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colourOf("--soft"),
    grid: { stroke: colourOf("--line"), width: 1 },
    ticks: { stroke: colourOf("--line"), width: 1 },
    font: `12px ${style.fontFamily}`,
  };
  return {
    width: element.clientWidth || 600,
    height: HEIGHT,
    tzDate: (timeS) => uPlot.tzDate(new Date(timeS * 1000), "Etc/UTC"),
    scales: {
      x: { range: (_plot, min, max) => [min - DAY_S * 0.6, max + DAY_S * 0.6] },
      // An empty month still has an axis.
      y: { range: (_plot, _min, max) => [0, Math.max(5, max * 1.1)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        values: (_plot, times) => times.map((time) => dayText(time).slice(5)),
      },
      { ...axis, size: 62, values: (_plot, counts) => counts.map((count) => count.toLocaleString("en")) },
    ],
    series: [
      { label: "Day", value: (_plot, time) => (time === null ? "point at a bar" : dayText(time)) },
      {
        label,
        fill: colourOf("--accent"),
        width: 0,
        points: { show: false },
        paths: uPlot.paths.bars!({ size: [0.7, 42] }),
        value: (_plot, count) => (count === null ? "–" : count.toLocaleString("en")),
      },
    ],
    cursor: { y: false, drag: { x: false, y: false } },
  };
}
