/** A figure as the length of a bar; a negative one has another pattern, too. */
export function Length({ value, most }: { value: number | null; most: number }) {
  const width = value === null ? 0 : Math.max(value === 0 ? 0 : 0.5, (Math.abs(value) / most) * 100);
  return (
    <svg class="length" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class={value !== null && value < 0 ? 'negative' : 'positive'} x="0.5" y="0.5" width={Math.min(99, width)} height="9" />
    </svg>
  );
}
