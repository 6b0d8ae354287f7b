// Writes metrics down: as the text format of Prometheus, version 0.0.4, and as JSON.

export type Labels = Readonly<Record<string, string>>;

/** One value of a metric. */
export interface Sample {
  readonly labels?: Labels;
  readonly value: number;
}

/** How values are spread. */
export interface Spread {
  /** Upper bound → how many values are at most that. */
  readonly buckets: readonly (readonly [bound: number, count: number])[];
  readonly sum: number;
  readonly count: number;
}

interface Named {
  readonly name: string;
  /** What it is, in one sentence. */
  readonly help: string;
}

/** A metric with all its values. */
export type Metric =
  | (Named & { readonly type: "gauge" | "counter"; readonly samples: readonly Sample[] })
  | (Named & { readonly type: "histogram"; readonly spread: Spread });

export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** The text that Prometheus scrapes. */
export function prometheusText(metrics: readonly Metric[]): string {
  return metrics.map((metric) => head(metric) + lines(metric).join("")).join("");
}

function head({ name, help, type }: Metric): string {
  return `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n# TYPE ${name} ${type}\n`;
}

function lines(metric: Metric): string[] {
  const { name } = metric;
  if (metric.type !== "histogram") return metric.samples.map(({ labels, value }) => line(name, labels, value));
  const { buckets, sum, count } = metric.spread;
  return [
    ...buckets.map(([bound, atMost]) => line(`${name}_bucket`, { le: `${bound}` }, atMost)),
    line(`${name}_bucket`, { le: "+Inf" }, count),
    line(`${name}_sum`, undefined, sum),
    line(`${name}_count`, undefined, count),
  ];
}

function line(name: string, labels: Labels | undefined, value: number): string {
  const pairs = Object.entries(labels ?? {}).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}\n`;
}

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

/** The same by name. */
export function metricsJson(metrics: readonly Metric[]): Record<string, unknown> {
  return Object.fromEntries(
    metrics.map((metric) => {
      const { name, help, type } = metric;
      if (metric.type !== "histogram")
        return [name, { type, help, values: metric.samples.map(({ labels = {}, value }) => ({ labels, value })) }];
      const buckets = metric.spread.buckets.map(([bound, count]) => ({ le: bound, count }));
      return [name, { type, help, ...metric.spread, buckets }];
    }),
  );
}
