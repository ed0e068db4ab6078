import { holds, type Generation } from '../src/summaries/generations.ts';

const IDS = ['0191b3c4-5d6e-7f70-8192-000000000001', '0191b3c4-5d6e-7f70-8192-000000000002', '0191b3c4-5d6e-7f70-8192-000000000003'];
const BUILDING: Generation = { generation: 2, time_zone: 'UTC', state: 'building', stage: 1, after: IDS[1]!, version: 1 };

// A changed fact is subtracted only from sums that hold it. The build adds the others later, as they then are.
test.each<[string, Generation, readonly number[]]>([
  ['that is being built holds the kinds before its own, and of that what was added, to the last id', BUILDING, [3, 2, 0]],
  ['that begins a kind holds the kinds before it', { ...BUILDING, after: null }, [3, 0, 0]],
  ['that reports use holds every fact', { ...BUILDING, state: 'current' }, [3, 3, 3]],
])('a generation %s', (_, generation, counts) => {
  expect([0, 1, 2].map((kind) => IDS.filter((id) => holds(generation, kind, id)).length)).toEqual(counts);
});
