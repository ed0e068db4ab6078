import type { FaultCount } from '../injector.ts';

export function describeFaults(faults: Readonly<Record<string, FaultCount>>): string {
  return `  killed and paused: ${Object.entries(faults)
    .map(([name, { kills, pauses }]) => `${name} ${kills} + ${pauses}`)
    .join(', ')}`;
}

export function describeCounts(counts: Readonly<Record<string, number>>): string {
  return `  ${Object.entries(counts)
    .map(([name, count]) => `${name.replaceAll('_', ' ')} ${count}`)
    .join(', ')}`;
}

export function describeViolations(violations: readonly { kind: string; text: string }[], shown = 10): string {
  if (violations.length === 0) return '  no violations';
  const byKind = [...Map.groupBy(violations, ({ kind }) => kind)].map(([kind, all]) => `${kind} ${all.length}`);
  const first = violations.slice(0, shown).map(({ kind, text }) => `    ${kind}: ${text}`);
  return [`  ${violations.length} violations: ${byKind.join(', ')}`, ...first, ...(violations.length > shown ? ['    …'] : [])].join('\n');
}

export function prefixed(prefix: string, figures: Readonly<Record<string, number | undefined>>): Record<string, number> {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [`${prefix}_${name}`, value ?? 0]));
}
