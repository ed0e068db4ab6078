// The list of components as the chart has it: a template reads no file outside its chart.
import { components } from '../packages/contract/src/components.ts';

const facts = components.map(({ name, chartName = name, port, postgresql, redis, kafka, notifies, calls, secretKeys, optionalKeys }) => [
  chartName,
  { image: name, port, metricsPort: port + 1000, postgresql, redis, kafka, notifies, calls, secretKeys, optionalKeys },
]);

/** Text of deploy/helm/truckroll/components.json. */
export const chartComponents = `${JSON.stringify(Object.fromEntries(facts), null, 2)}\n`;
