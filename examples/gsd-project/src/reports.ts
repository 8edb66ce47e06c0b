/** What a hiker found, and when. */
export interface Report {
  trail: string;
  condition: "dry" | "mud" | "snow" | "closed";
  note: string;
  at: number;
}

const DAY = 24 * 60 * 60 * 1000;

/** A report is worth less each day and nothing after ten. */
export function weight(report: Report, now: number): number {
  return Math.max(0, 1 - (now - report.at) / (10 * DAY));
}

/** The condition that the reports of a trail add up to. */
export function condition(reports: Report[], now: number): Report["condition"] | undefined {
  const sums = new Map<Report["condition"], number>();
  for (const report of reports) {
    sums.set(report.condition, (sums.get(report.condition) ?? 0) + weight(report, now));
  }
  const [best] = [...sums].filter(([, sum]) => sum > 0).sort((a, b) => b[1] - a[1]);
  return best?.[0];
}
