import { COMPONENTS, ORDERS, SIDES, planOf, type Component, type Side } from './plan.ts';

const SEEDS = Array.from({ length: 50 }, (_, seed) => seed);

test('a plan depends only on its seed', () => {
  expect(planOf(7)).toEqual(planOf(7));
  expect(new Set(SEEDS.map((seed) => JSON.stringify(planOf(seed)))).size).toBe(SEEDS.length);
});

test('first moves every component alone to the newer release and back, then all of them in eight orders', () => {
  const stages = planOf(1);
  expect(stages).toHaveLength(COMPONENTS.length + ORDERS);
  expect(stages.slice(0, COMPONENTS.length).map(({ moves }) => moves)).toEqual(
    COMPONENTS.map((component) => [
      { component, to: 'head' },
      { component, to: 'released' },
    ]),
  );
});

test('every order moves every component to its target, and one goes back a release while others still have to move', () => {
  for (const seed of SEEDS) {
    const sides = new Map<Component, Side>(COMPONENTS.map((component) => [component, 'released']));
    for (const { moves } of planOf(seed, { alone: false })) {
      const [from] = sides.values();
      const to = moves[0]!.to;
      const back = moves.filter((move) => move.to === from);
      expect(back).toHaveLength(1);
      const at = moves.indexOf(back[0]!);
      expect(moves.slice(0, at).some(({ component }) => component === back[0]!.component)).toBe(true);
      expect(moves.slice(at + 1).map(({ component }) => component)).toContain(back[0]!.component);
      expect(moves.slice(at + 1).length).toBeGreaterThan(1);
      for (const move of moves) {
        // By one release at a time, and no two components are ever two releases apart.
        sides.set(move.component, move.to);
        const levels = [...sides.values()].map((side) => SIDES.indexOf(side));
        expect(Math.max(...levels) - Math.min(...levels)).toBeLessThanOrEqual(1);
      }
      expect(new Set(sides.values())).toEqual(new Set([to]));
    }
  }
});
