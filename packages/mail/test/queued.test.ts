import { onQueued, queued } from '../src/queued.ts';

test('wakes every sender until it unsubscribes', () => {
  const woken: string[] = [];
  const forget = onQueued(() => woken.push('a'));
  const forgetOther = onQueued(() => woken.push('b'));
  expect(woken).toEqual([]);
  queued();
  queued();
  expect(woken).toEqual(['a', 'b', 'a', 'b']);
  forget();
  queued();
  expect(woken).toEqual(['a', 'b', 'a', 'b', 'b']);
  forgetOther();
  queued();
  expect(woken).toHaveLength(5);
});
