/** Grey lines where data will be. Screen readers say that it is being loaded. */
export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div class="skeleton" role="status">
      <span class="unseen">Loading</span>
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} aria-hidden="true" />
      ))}
    </div>
  );
}
