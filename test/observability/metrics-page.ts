import type { ListedMetric } from './components.ts';
import { withMarked } from './marked.ts';

/** prom-client's metrics of any Node process, listed on one line. */
const OF_NODE = /^(nodejs|process)_/;

/** The page with the list of the components' metrics between its marks. Throws when the page has no marks. */
export function withMetrics(page: string, metrics: readonly ListedMetric[]): string {
  return withMarked(page, 'metrics', table(metrics));
}

function table(metrics: readonly ListedMetric[]): string {
  const most = Math.max(...metrics.map(({ components }) => components.length));
  const whoOf = ({ components }: ListedMetric): string =>
    components.length === most ? 'all' : components.length === most - 1 && !components.includes('gateway') ? 'all but the gateway' : components.join(', ');
  const rows = metrics
    .filter(({ name }) => !OF_NODE.test(name))
    .map(
      (metric) =>
        `| \`${metric.name}\` | ${metric.type} | ${metric.labels.map((label) => `\`${label}\``).join(', ')} | ${metric.help.replaceAll('|', '\\|')} | ${whoOf(metric)} |`,
    );
  const ofNode = metrics.filter(({ name }) => OF_NODE.test(name)).map(({ name }) => `\`${name}\``);
  return ['| Metric | Type | Labels | Meaning | Of |', '|---|---|---|---|---|', ...rows, '', `And of every process: ${ofNode.join(', ')}.`].join('\n');
}
