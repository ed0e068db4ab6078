// What goes into images: every component in one file with what it reads beside it. No engine builds them here.
import { ROOT } from '@truckroll/local-stack';
import { checkBundles } from '../support/bundles.ts';
import { COMPONENTS } from './environment.ts';

test('every component is bundled, and starts without the checkout: as far as to name what its environment lacks', () => {
  expect(checkBundles(ROOT)).toEqual([...COMPONENTS, 'truckroll'].toSorted());
}, 300_000);
