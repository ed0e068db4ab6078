// Which component moves to which release, and when. The whole run follows from its seed and is printed before it begins.
import { components, type ComponentName } from '@truckroll/contract';
import { Chance } from '../../tools/cli/src/simulate/chance.ts';

export const COMPONENTS = components.map(({ name }) => name);
export type Component = ComponentName;

/** Adjacent sides must work together: the last release, the current code, and the current code with an added filter and event type. */
export const SIDES = ['released', 'head', 'changed'] as const;
export type Side = (typeof SIDES)[number];

export interface Move {
  readonly component: Component;
  readonly to: Side;
}

export interface Stage {
  readonly title: string;
  readonly moves: readonly Move[];
}

/** The start and target of each order. All but the last end where the next one begins. */
const ROUTES: readonly (readonly [Side, Side])[] = [
  ['released', 'head'],
  ['head', 'released'],
  ['released', 'head'],
  ['head', 'released'],
  ['released', 'head'],
  ['head', 'changed'],
  ['changed', 'head'],
  ['head', 'changed'],
];
export const ORDERS = ROUTES.length;

/**
 * First each component alone, there and back, then whole installations in random order. In each order one component goes back a release while others
 * still have to move, and then moves forward again.
 */
export function planOf(seed: number, { alone = true, orders = ORDERS }: { alone?: boolean; orders?: number } = {}): Stage[] {
  const chance = new Chance(seed);
  const stages: Stage[] = [];
  if (alone) {
    for (const component of COMPONENTS)
      stages.push({
        title: `${component} alone`,
        moves: [
          { component, to: 'head' },
          { component, to: 'released' },
        ],
      });
  }
  for (const [index, [from, to]] of ROUTES.slice(0, orders).entries()) {
    stages.push({ title: `order ${index + 1} of ${orders}, ${from} to ${to}`, moves: orderOf(chance, from, to) });
  }
  return stages;
}

function orderOf(chance: Chance, from: Side, to: Side): Move[] {
  const order = shuffled(COMPONENTS, chance);
  // Not the last one, so that some components have moved and some have not while it is back.
  const turning = Math.floor(chance.between(0, order.length - 2));
  const back = Math.floor(chance.between(turning + 1, order.length - 1));
  return order.flatMap((component, index): Move[] => [
    { component, to },
    ...(index === back ? [{ component: order[turning]!, to: from }] : []),
    ...(index === order.length - 1 ? [{ component: order[turning]!, to }] : []),
  ]);
}

function shuffled<T>(items: readonly T[], chance: Chance): T[] {
  return items
    .map((item) => [chance.next(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item);
}

export function describePlan(stages: readonly Stage[]): string {
  return stages.map(({ title, moves }) => `  ${title}: ${moves.map(({ component, to }) => `${component} → ${to}`).join(', ')}`).join('\n');
}
