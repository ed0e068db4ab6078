/** `reads 100/min` for each limit that differs from its default. */
export function limits(row: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(row['limits'] as Record<string, number | null>).filter(([, value]) => value !== null);
  return given.map(([name, value]) => `${name.replace('_per_minute', '')} ${String(value)}/min`).join(', ') || 'default';
}
