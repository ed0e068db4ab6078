import { Pace } from '../src/queue/pace.ts';

test('expects one delivery for each event at first', () => {
  const pace = new Pace();
  expect(pace.deliveriesOf(10)).toBe(10);
  expect(pace.fitting(10, 4)).toBe(4);
  expect(pace.fitting(3, 100)).toBe(3);
});

test('moves three tenths of the way to the newest batch', () => {
  const pace = new Pace();
  pace.stored(10, 60);
  // 0.7 × 1 + 0.3 × 6 = 2.5
  expect(pace.deliveriesOf(2)).toBe(5);
  expect(pace.deliveriesOf(3)).toBe(8);
  expect(pace.fitting(100, 26)).toBe(10);
  pace.stored(1, 0);
  // 0.7 × 2.5 = 1.75
  expect(pace.deliveriesOf(4)).toBe(7);
});

test('takes one event at least, even without room for its deliveries', () => {
  const pace = new Pace();
  pace.stored(1, 50);
  expect(pace.fitting(5, 1)).toBe(1);
});

test('expects a delivery for every fifty events at least, however many had none', () => {
  const pace = new Pace();
  for (let batch = 0; batch < 50; batch++) pace.stored(1000, 0);
  expect(pace.deliveriesOf(50)).toBe(1);
  expect(pace.deliveriesOf(51)).toBe(2);
  expect(pace.fitting(1000, 3)).toBe(150);
});
