import { Time, zone } from '../../parts/time.tsx';
import { previousOf, rangeName } from './calendar.ts';
import type { View } from './view.ts';

/** Which days the figures are of, and how fresh they are. */
export function Basis({ view, asOf }: { view: View; asOf: string }) {
  const { range, period, compare } = view;
  return (
    <p class="basis soft">
      {rangeName(range)}
      {compare && `, compared with ${rangeName(previousOf(range, period))}`}. Days in {zone()}, figures as of <Time at={asOf} />.
    </p>
  );
}
