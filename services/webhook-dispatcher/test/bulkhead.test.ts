import { Bulkhead } from '../src/send/exchange-slots.ts';

/** ES modules find `jest` here; it is a global only in scripts. */
const clock = (import.meta as unknown as { jest: typeof jest }).jest;

test('never lets a company hold more slots than it leaves free, so that a new company finds one', () => {
  const bulkhead = new Bulkhead(8, () => undefined);
  const leave = new Map<string, (() => void)[]>();
  const fill = (company: string) => {
    while (bulkhead.roomFor(company) > 0) leave.set(company, [...(leave.get(company) ?? []), bulkhead.enter(company)]);
    return leave.get(company)?.length ?? 0;
  };
  expect([fill('greedy'), bulkhead.free]).toEqual([4, 4]);
  expect([fill('next'), bulkhead.free]).toEqual([2, 2]);
  expect([fill('third'), bulkhead.free]).toEqual([1, 1]);
  for (const each of leave.get('greedy')!.splice(0)) each();
  expect([fill('next'), bulkhead.busy]).toEqual([4, ['next', 'third']]);
  for (const each of [...leave.values()].flat()) each();
});

test('keeps a slot taken in proportion to the CPU time of its answer', () => {
  clock.useFakeTimers();
  try {
    let freed = 0;
    const bulkhead = new Bulkhead(4, () => void (freed += 1), 40);
    const [leave, leaveSlow] = [bulkhead.enter('costly'), bulkhead.enter('slow')];
    clock.advanceTimersByTime(100);
    // 500 ms at a quarter of the processor take 2 s.
    leave(500);
    expect([bulkhead.inFlight, bulkhead.free, bulkhead.busy]).toEqual([1, 2, ['costly', 'slow']]);
    clock.advanceTimersByTime(1899);
    expect(bulkhead.busy).toEqual(['costly']);
    clock.advanceTimersByTime(1);
    expect([bulkhead.busy, bulkhead.free, freed]).toEqual([[], 4, 2]);
    // 500 ms at a fortieth of the processor take 20 s, of which 2 s have passed.
    leaveSlow(500);
    clock.advanceTimersByTime(17_999);
    expect([bulkhead.inFlight, freed]).toEqual([0, 2]);
    clock.advanceTimersByTime(1);
    expect(freed).toBe(3);
    // A small answer costs less than the exchange lasted, so the slot is free at once.
    const leaveCheap = bulkhead.enter('cheap');
    clock.advanceTimersByTime(40);
    leaveCheap(10);
    expect(bulkhead.free).toBe(4);
  } finally {
    clock.useRealTimers();
  }
});

test('gives the slot of a slow exchange to others, up to the size of the slow compartment', async () => {
  clock.useFakeTimers();
  try {
    let freed = 0;
    const bulkhead = new Bulkhead(2, () => void (freed += 1), 4);
    const leave = [bulkhead.enter('one'), bulkhead.enter('other')];
    expect(bulkhead.free).toBe(0);
    clock.advanceTimersByTime(999);
    expect(bulkhead.free).toBe(0);
    clock.advanceTimersByTime(1);
    expect([bulkhead.free, bulkhead.inFlight, freed]).toEqual([2, 2, 2]);
    leave.push(bulkhead.enter('one'), bulkhead.enter('other'));
    clock.advanceTimersByTime(1000);
    // Neither company may hold more of the four slow slots than it leaves free.
    expect([bulkhead.free, bulkhead.inFlight]).toEqual([1, 4]);
    for (const each of leave) each();
    expect([bulkhead.free, bulkhead.inFlight]).toEqual([2, 0]);
  } finally {
    clock.useRealTimers();
  }
});
