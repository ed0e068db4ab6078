// The tools that check the chart, at the versions of deploy/tools/go.mod.
import { join } from 'node:path';
import { goTools } from '../scripts/go-tools.mjs';

/** The folder of helm, helm-unittest, helm-docs and kubeconform. Throws an error that says what to do. */
export function chartTools() {
  return goTools({ module: join(import.meta.dirname, 'tools'), name: 'truckroll-chart-tools', purpose: 'The chart is checked' });
}
