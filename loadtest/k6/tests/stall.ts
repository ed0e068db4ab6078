// One request after the other at 100 a second, to a server that stands still for half a second meanwhile (loadtest/load/stall-check.ts).
import { clientOf, optionsOf } from '../suite.ts';

export { handleSummary } from '../suite.ts';
export const options = optionsOf('average');

export async function detail(): Promise<void> {
  await clientOf('detail').ask('detail', { path: '/', credential: 'nobody', expect: [200] });
}
