/** A trail as the park names it. */
export interface Trail {
  slug: string;
  name: string;
}

export const trails: Trail[] = [
  { slug: "ridge-loop", name: "Ridge Loop" },
  { slug: "mill-creek", name: "Mill Creek" },
];

export function find(slug: string): Trail | undefined {
  return trails.find((trail) => trail.slug === slug);
}
