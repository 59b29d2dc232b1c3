/** Counters, gauges and histograms, written in the Prometheus text format (version 0.0.4). */

export interface MetricDefinition {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
}

/** A number, or for a histogram [sum, count, bucket…]. */
type Sample = number | number[];

export class Metrics {
  readonly #definitions = new Map<string, MetricDefinition>();
  readonly #samples = new Map<string, Map<string, Sample>>();
  readonly #collectors: (() => void)[] = [];

  define(definition: MetricDefinition): void {
    if (this.#definitions.has(definition.name)) return;
    this.#definitions.set(definition.name, definition);
    this.#samples.set(definition.name, new Map());
  }

  /** Runs before each rendering: for gauges that are read, not counted. */
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

  /** A counter or gauge as it is now; 0 where there is none. */
  value(name: string, labels = ""): number {
    for (const collect of this.#collectors) collect();
    const sample = this.#samples.get(name)?.get(labels);
    return typeof sample === "number" ? sample : 0;
  }

  /** The text that Prometheus scrapes. */
  render(): string {
    for (const collect of this.#collectors) collect();
    const lines: string[] = [];
    for (const [name, samples] of this.#samples) {
      const definition = this.#definitions.get(name)!;
      if (samples.size === 0) continue;
      lines.push(`# HELP ${name} ${definition.help}`, `# TYPE ${name} ${definition.type}`);
      for (const [labels, sample] of samples) lines.push(...sampleLines(definition, labels, sample));
    }
    return `${lines.join("\n")}\n`;
  }
}

function sampleLines(definition: MetricDefinition, labels: string, sample: Sample): string[] {
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
