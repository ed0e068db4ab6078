import { ExchangeSlots } from '../src/send/exchange-slots.ts';

test('never lets a company hold more slots than it leaves free, so that a new company finds one', () => {
  const slots = new ExchangeSlots(8, () => undefined);
  const leave = new Map<string, (() => void)[]>();
  const fill = (company: string) => {
    while (slots.freeFor(company) > 0) leave.set(company, [...(leave.get(company) ?? []), slots.enter(company)]);
    return leave.get(company)?.length ?? 0;
  };
  expect([fill('greedy'), slots.free]).toEqual([4, 4]);
  expect([fill('next'), slots.free]).toEqual([2, 2]);
  expect([fill('third'), slots.free]).toEqual([1, 1]);
  for (const each of leave.get('greedy')!.splice(0)) each();
  expect([fill('next'), slots.busy]).toEqual([4, ['next', 'third']]);
  for (const each of [...leave.values()].flat()) each();
});

test('keeps a slot taken in proportion to the CPU time of its answer', () => {
  jest.useFakeTimers();
  try {
    let freed = 0;
    const slots = new ExchangeSlots(4, () => void (freed += 1), 40);
    const [leave, leaveSlow] = [slots.enter('costly'), slots.enter('slow')];
    jest.advanceTimersByTime(100);
    // 500 ms at a quarter of the processor take 2 s.
    leave(500);
    expect([slots.inFlight, slots.free, slots.busy]).toEqual([1, 2, ['costly', 'slow']]);
    jest.advanceTimersByTime(1899);
    expect(slots.busy).toEqual(['costly']);
    jest.advanceTimersByTime(1);
    expect([slots.busy, slots.free, freed]).toEqual([[], 4, 2]);
    // 500 ms at a fortieth of the processor take 20 s, of which 2 s have passed.
    leaveSlow(500);
    jest.advanceTimersByTime(17_999);
    expect([slots.inFlight, freed]).toEqual([0, 2]);
    jest.advanceTimersByTime(1);
    expect(freed).toBe(3);
    // A small answer costs less than the exchange lasted, so the slot is free at once.
    const leaveCheap = slots.enter('cheap');
    jest.advanceTimersByTime(40);
    leaveCheap(10);
    expect(slots.free).toBe(4);
  } finally {
    jest.useRealTimers();
  }
});

test('gives the slot of a slow exchange to others, up to the size of the slow compartment', async () => {
  jest.useFakeTimers();
  try {
    let freed = 0;
    const slots = new ExchangeSlots(2, () => void (freed += 1), 4);
    const leave = [slots.enter('one'), slots.enter('other')];
    expect(slots.free).toBe(0);
    jest.advanceTimersByTime(999);
    expect(slots.free).toBe(0);
    jest.advanceTimersByTime(1);
    expect([slots.free, slots.inFlight, freed]).toEqual([2, 2, 2]);
    leave.push(slots.enter('one'), slots.enter('other'));
    jest.advanceTimersByTime(1000);
    // Neither company may hold more of the four slow slots than it leaves free.
    expect([slots.free, slots.inFlight]).toEqual([1, 4]);
    for (const each of leave) each();
    expect([slots.free, slots.inFlight]).toEqual([2, 0]);
  } finally {
    jest.useRealTimers();
  }
});
