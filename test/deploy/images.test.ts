// The contents of images: every component in one file, with the files it reads. This does not build images.
import { ROOT } from '@truckroll/local-stack';
import { checkBundles } from '../support/bundles.ts';
import { COMPONENTS } from './environment.ts';

test('every component is bundled and starts without the checkout, up to naming the variables it lacks', () => {
  expect(checkBundles(ROOT)).toEqual([...COMPONENTS, 'truckroll'].toSorted());
}, 300_000);
