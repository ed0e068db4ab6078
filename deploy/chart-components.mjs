// The list of components, in the form that the chart's templates read: they can read no file outside the chart.
import { components } from '../packages/contract/src/components.ts';

const facts = components.map(({ name, chartName = name, port, postgresql, redis, kafka, notifies, calls, secretKeys, optionalKeys }) => [
  chartName,
  { image: name, port, metricsPort: port + 1000, postgresql, redis, kafka, notifies, calls, secretKeys, optionalKeys },
]);

/** Text of deploy/helm/truckroll/components.json. */
export const chartComponents = `${JSON.stringify(Object.fromEntries(facts), null, 2)}\n`;
