/**
 * Counters, gauges and histograms, written in the Prometheus text format (version 0.0.4).
 *
 * Samples are plain numbers under a name and a label text, so that several processes add theirs up by adding
 * numbers: `snapshot` travels between processes, `renderMetrics` prints the sum of any number of snapshots.
 */

export interface MetricDefinition {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
  /** Whether processes that share one store report the same figure: then the largest counts, not the sum. */
  readonly shared?: boolean;
}

/** name → label text → number, or for a histogram [sum, count, bucket…]. */
export type MetricSnapshot = Record<string, Record<string, number | number[]>>;

export class Metrics {
  readonly #definitions = new Map<string, MetricDefinition>();
  readonly #samples = new Map<string, Map<string, number | number[]>>();
  readonly #collectors: (() => void)[] = [];

  define(definition: MetricDefinition): void {
    if (this.#definitions.has(definition.name)) return;
    this.#definitions.set(definition.name, definition);
    this.#samples.set(definition.name, new Map());
  }

  /** Runs before each snapshot: for gauges that are read, not counted. */
  onCollect(collector: () => void): void {
    this.#collectors.push(collector);
  }

  add(name: string, labels = "", amount = 1): void {
    const samples = this.#samples.get(name);
    samples?.set(labels, ((samples.get(labels) as number | undefined) ?? 0) + amount);
  }

  set(name: string, value: number, labels = ""): void {
    this.#samples.get(name)?.set(labels, value);
  }

  observe(name: string, value: number, labels = ""): void {
    const buckets = this.#definitions.get(name)?.buckets;
    const samples = this.#samples.get(name);
    if (buckets === undefined || samples === undefined) return;
    let sample = samples.get(labels) as number[] | undefined;
    if (sample === undefined) {
      sample = new Array(buckets.length + 2).fill(0);
      samples.set(labels, sample);
    }
    sample[0] += value;
    sample[1] += 1;
    // Buckets are few and most observations are small: the first that fits is found at once.
    for (let i = 0; i < buckets.length; i++) {
      if (value <= buckets[i]) {
        sample[i + 2] += 1;
        return;
      }
    }
  }

  get definitions(): MetricDefinition[] {
    return [...this.#definitions.values()];
  }

  snapshot(): MetricSnapshot {
    for (const collect of this.#collectors) collect();
    const out: MetricSnapshot = {};
    for (const [name, samples] of this.#samples) out[name] = Object.fromEntries(samples);
    return out;
  }
}

/** The text that Prometheus scrapes: the sum of the snapshots. */
export function renderMetrics(
  definitions: readonly MetricDefinition[],
  snapshots: readonly MetricSnapshot[],
): string {
  const lines: string[] = [];
  for (const definition of definitions) {
    const total = new Map<string, number | number[]>();
    for (const snapshot of snapshots) {
      for (const [labels, sample] of Object.entries(snapshot[definition.name] ?? {})) {
        total.set(labels, combine(total.get(labels), sample, definition.shared === true));
      }
    }
    if (total.size === 0) continue;
    lines.push(
      `# HELP ${definition.name} ${definition.help}`,
      `# TYPE ${definition.name} ${definition.type}`,
    );
    for (const [labels, sample] of total) lines.push(...sampleLines(definition, labels, sample));
  }
  return `${lines.join("\n")}\n`;
}

function combine(
  before: number | number[] | undefined,
  sample: number | number[],
  shared: boolean,
): number | number[] {
  if (before === undefined) return sample;
  if (Array.isArray(sample)) return sample.map((value, i) => value + (before as number[])[i]);
  return shared ? Math.max(before as number, sample) : (before as number) + sample;
}

function sampleLines(definition: MetricDefinition, labels: string, sample: number | number[]): string[] {
  const { name, buckets = [] } = definition;
  if (!Array.isArray(sample)) return [`${name}${labels === "" ? "" : `{${labels}}`} ${sample}`];
  const [sum, count, ...counts] = sample;
  const comma = labels === "" ? "" : ",";
  let cumulated = 0;
  const lines = buckets.map((bound, i) => {
    cumulated += counts[i];
    return `${name}_bucket{${labels}${comma}le="${bound}"} ${cumulated}`;
  });
  const suffix = labels === "" ? "" : `{${labels}}`;
  return [
    ...lines,
    `${name}_bucket{${labels}${comma}le="+Inf"} ${count}`,
    `${name}_sum${suffix} ${sum}`,
    `${name}_count${suffix} ${count}`,
  ];
}
