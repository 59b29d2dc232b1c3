/** Counters, gauges and histograms, written in the Prometheus text format (version 0.0.4). */

export interface MetricDefinition {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
}

/** [value], or for a histogram [sum, count, bucket…]. */
type MetricSample = number[];

interface Metric {
  readonly definition: MetricDefinition;
  readonly buckets: readonly number[] | undefined;
  /** By label texts. */
  readonly samples: Map<string, MetricSample>;
}

export class Metrics {
  readonly #metrics = new Map<string, Metric>();
  readonly #collectors: (() => void)[] = [];

  define(definition: MetricDefinition): void {
    if (this.#metrics.has(definition.name)) return;
    this.#metrics.set(definition.name, { definition, buckets: definition.buckets, samples: new Map() });
  }

  /** Runs before each rendering: for gauges that are read, not counted. */
  onCollect(collector: () => void): void {
    this.#collectors.push(collector);
  }

  add(name: string, labels = "", amount = 1): void {
    const metric = this.#metrics.get(name);
    if (metric !== undefined) sampleOf(metric, labels)[0]! += amount;
  }

  set(name: string, value: number, labels = ""): void {
    const metric = this.#metrics.get(name);
    if (metric !== undefined) sampleOf(metric, labels)[0] = value;
  }

  /** Forgets what was set, under all labels. */
  clear(name: string): void {
    this.#metrics.get(name)?.samples.clear();
  }

  observe(name: string, value: number, labels = ""): void {
    const metric = this.#metrics.get(name);
    if (metric?.buckets === undefined) return;
    const { buckets } = metric;
    const sample = sampleOf(metric, labels);
    sample[0]! += value;
    sample[1]! += 1;
    // Buckets are few and most observations are small: the first that fits is found at once.
    const index = buckets.findIndex((bound) => value <= bound);
    if (index >= 0) sample[index + 2]! += 1;
  }

  /** A counter or gauge as it is now; 0 where there is none. */
  value(name: string, labels = ""): number {
    for (const collect of this.#collectors) collect();
    return this.#metrics.get(name)?.samples.get(labels)?.[0] ?? 0;
  }

  /** The text that Prometheus scrapes. */
  render(): string {
    for (const collect of this.#collectors) collect();
    const lines: string[] = [];
    for (const { definition, samples } of this.#metrics.values()) {
      const { name, help, type } = definition;
      if (samples.size === 0) continue;
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
      for (const [labels, sample] of samples) lines.push(...sampleLines(definition, labels, sample));
    }
    return `${lines.join("\n")}\n`;
  }
}

function sampleOf({ samples, buckets }: Metric, labels: string): MetricSample {
  let sample = samples.get(labels);
  if (sample === undefined) {
    sample = new Array<number>(buckets === undefined ? 1 : buckets.length + 2).fill(0);
    samples.set(labels, sample);
  }
  return sample;
}

function sampleLines({ name, buckets }: MetricDefinition, labels: string, sample: MetricSample): string[] {
  const suffix = labels === "" ? "" : `{${labels}}`;
  if (buckets === undefined) return [`${name}${suffix} ${sample[0]}`];
  const [sum, count, ...counts] = sample;
  const comma = labels === "" ? "" : ",";
  let cumulated = 0;
  const lines = buckets.map((bound, i) => {
    cumulated += counts[i]!;
    return `${name}_bucket{${labels}${comma}le="${bound}"} ${cumulated}`;
  });
  return [
    ...lines,
    `${name}_bucket{${labels}${comma}le="+Inf"} ${count}`,
    `${name}_sum${suffix} ${sum}`,
    `${name}_count${suffix} ${count}`,
  ];
}
