import { topics } from '@truckroll/contract';
import { SERVICES } from '../src/restored/renew.ts';

const names = (of: readonly { readonly name: string }[]): string[] => of.map(({ name }) => name).toSorted();
const states = Object.values(topics).filter(({ keeps }) => keeps === 'latest');

test('every topic of state is told anew by one owner after a restore', () => {
  expect(names(SERVICES.flatMap((service) => service.states.map(({ topic }) => topic)))).toEqual(names(states));
});

test('who keeps read models of a topic of state goes on behind what was told before a restore, and says what it holds', () => {
  for (const { schema, readModels, groups } of SERVICES) {
    const read = groups.flatMap((group) => group.topics).filter((topic) => states.includes(topic));
    expect({ schema, topics: names(readModels.map(({ topic }) => topic)) }).toEqual({ schema, topics: names(read) });
  }
});
