import type { Owner } from '@truckroll/contract';
import { FeedState, type ChangePosition } from '@truckroll/contract/gen/records/v1/changes';
import { decodeProgress, encodeProgress, type OwnerProgress } from '../src/changes/feed-state.ts';

const start = { version: 0, after_kind: '', after_id: '', began_at: 0 };
const read = { version: 7, after_kind: 'payments', after_id: 'a', began_at: 3 };

function progress(epoch: number, ...positions: ChangePosition[]): OwnerProgress {
  return { epoch, positions: new Map(positions.map((position) => [position.kind, position])) };
}

const all = new Map<Owner, OwnerProgress>([
  ['billing', progress(2, { kind: 'invoices', ...read }, { kind: 'estimates', ...start }, { kind: 'payments', ...read })],
  ['scheduling', progress(0)],
  ['integrations', progress(1, { kind: 'users', ...read })],
]);

test('decodes what it encoded', () => {
  expect(decodeProgress(encodeProgress(all))).toEqual(all);
  expect(decodeProgress(encodeProgress(new Map()))).toEqual(new Map());
});

test('encodes kinds of an owner with equal positions as one group', () => {
  expect(FeedState.decode(encodeProgress(all)).owners).toEqual([
    {
      owner: 'billing',
      epoch: 2,
      groups: [
        { kinds: ['invoices', 'payments'], ...read },
        { kinds: ['estimates'], ...start },
      ],
    },
    { owner: 'scheduling', epoch: 0, groups: [] },
    { owner: 'integrations', epoch: 1, groups: [{ kinds: ['users'], ...read }] },
  ]);
});

test.each(Object.entries({ version: 8, after_kind: '', after_id: 'b', began_at: 4 }))('takes positions apart that differ in %s', (name, value) => {
  const one = new Map<Owner, OwnerProgress>([['billing', progress(2, { kind: 'invoices', ...read }, { kind: 'payments', ...read, [name]: value })]]);
  expect(FeedState.decode(encodeProgress(one)).owners[0]?.groups).toHaveLength(2);
  expect(decodeProgress(encodeProgress(one))).toEqual(one);
});
