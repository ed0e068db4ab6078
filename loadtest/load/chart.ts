// The Helm chart's settings for Node, for systems that must run as in production.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem, ROOT } from '@truckroll/local-stack';
import { parseAllDocuments } from 'yaml';

/** The rendered chart, kept current by check:chart. */
const RENDERED = join(ROOT, 'deploy/helm/golden/minimal.yaml');

interface Deployment {
  kind: string;
  spec: { template: { spec: { containers: { image: string; env: { name: string; value?: string }[] }[] } } };
}

/** NODE_OPTIONS by component, mainly the heap limit. Without one, V8 lets a heap grow with the machine's memory before it collects. */
export function chartNodeOptions(): (component: string) => string {
  const manifests = parseAllDocuments(readFileSync(RENDERED, 'utf8')).map((each) => each.toJSON() as Deployment);
  const containers = manifests.filter(({ kind }) => kind === 'Deployment').flatMap(({ spec }) => spec.template.spec.containers);
  return (component) => {
    const options = containers.find(({ image }) => image.includes(`/${component}:`))?.env.find(({ name }) => name === 'NODE_OPTIONS')?.value;
    if (options === undefined) throw new Problem(`${RENDERED} has no NODE_OPTIONS for ${component}: run npm run check:chart -- --write.`);
    return options;
  };
}

export function chartHeap(component: string): string {
  return chartNodeOptions()(component)
    .split(' ')
    .filter((option) => option.startsWith('--max-old-space-size='))
    .join(' ');
}
