// Requests at 100 a second to a server that stalls for half a second (loadtest/load/stall-check.ts).
import { clientOf } from './suite.ts';

export { handleSummary, options } from './suite.ts';

export default async function iterate(): Promise<void> {
  await clientOf('detail').ask('detail', { path: '/', credential: 'stranger', expect: [200] });
}
