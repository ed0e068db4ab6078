// The layout of the board of a day, late technicians, and the differences between two readings of a visit.
import { Problem } from '../../gateway/console/src/api/problem.ts';
import {
  axisOf,
  changesOf,
  isOutside,
  lateness,
  lateOf,
  leftOf,
  overlaps,
  placeOf,
  stack,
  withinArrival,
} from '../../gateway/console/src/screens/today/layout.ts';
import { inWords } from '../../gateway/console/src/screens/today/refusals.ts';

const HOUR = 3_600_000;
const hours = (from: number, to: number) => ({ from: from * HOUR, to: to * HOUR });
const hourAt = (hour: number): number => hour * HOUR;

test.each([
  ['no work', [], 8, 18],
  ['work within it', [hours(9, 17)], 8, 18],
  ['work that begins earlier', [hours(5.5, 7)], 5, 18],
  ['work that ends later', [hours(17, 20.25)], 8, 21],
  ['work on the day before and after', [hours(-3, 30)], 0, 24],
])('an axis with %s', (_, spans, first, last) => {
  const axis = axisOf(spans, hourAt);
  expect([axis.from, axis.to]).toEqual([first * HOUR, last * HOUR]);
  expect(axis.hours).toEqual(Array.from({ length: last - first + 1 }, (_, at) => (first + at) * HOUR));
});

test('an axis has an hour less on the day that lacks one', () => {
  const spring = (hour: number): number => (hour > 2 ? hour - 1 : hour) * HOUR;
  expect(leftOf(spring(13), axisOf([], spring))).toBe(50);
});

test.each([
  ['work on the axis', hours(10, 13), { left: 20, width: 30 }],
  ['work that begins before it', hours(6, 9), { left: 0, width: 10 }],
  ['work that ends after it', hours(17, 20), { left: 90, width: 10 }],
  ['short work', hours(10, 10.05), { left: 20, width: 3 }],
  ['short work at the end', hours(17.99, 18), { left: 97, width: 3 }],
  ['work before it', hours(6, 8), undefined],
  ['work after it', hours(18, 19), undefined],
])('places %s', (_, span, place) => {
  expect(placeOf(span, hours(8, 18))).toEqual(place);
});

test('stacks work that overlaps, and lets work share a lane that only touches', () => {
  const bars = [hours(10, 12), hours(8, 11), hours(11, 13), hours(12, 14), hours(8, 9)];
  expect(stack(bars).map(({ bar: { from }, lane }) => [from / HOUR, lane])).toEqual([
    [8, 0],
    [8, 1],
    [10, 0],
    [11, 1],
    [12, 0],
  ]);
});

const at = (minutes: number): string => new Date(minutes * 60_000).toISOString();
const work = (status: string) => ({ status, starts_at: at(60), ends_at: at(120) }) as Parameters<typeof lateness>[0];

test.each([
  ['TO_DO', 60, undefined],
  ['TO_DO', 61, { minutes: 1, begun: false }],
  ['EN_ROUTE', 85, { minutes: 25, begun: false }],
  ['IN_PROGRESS', 85, undefined],
  ['IN_PROGRESS', 130, { minutes: 10, begun: true }],
  ['PAUSED', 130, { minutes: 10, begun: true }],
  ['COMPLETED', 500, undefined],
  ['CANCELED', 500, undefined],
])('work from minute 60 to 120 that is %s at minute %i', (status, minute, late) => {
  expect(lateness(work(status), minute * 60_000)).toEqual(late);
});

test('lists late assignments, the latest first, and none of a canceled visit', () => {
  const visit = (canceled: boolean, ...assignments: object[]) => ({ canceled, assignments }) as any;
  const early = { ...work('TO_DO'), starts_at: at(10) };
  const late = lateOf([visit(false, work('TO_DO'), work('COMPLETED')), visit(true, early), visit(false, early)], 70 * 60_000);
  expect(late.map(({ minutes }) => minutes)).toEqual([60, 10]);
});

const span = (from: number, to: number) => ({ starts_at: at(from), ends_at: at(to) });
const window = { window_start_at: at(60), window_end_at: at(120) };
test.each([
  ['is within its window', span(60, 120), false, span(60, 120)],
  ['begins before it', span(59, 100), true, span(60, 100)],
  ['ends after it', span(70, 121), true, span(70, 120)],
  ['is before it', span(10, 30), true, span(60, 120)],
  ['is after it', span(130, 150), true, span(60, 120)],
  ['begins when it ends', span(120, 150), true, span(60, 120)],
])('work that %s', (_, times, outside, within) => {
  expect([isOutside(times, window), withinArrival({ ...times, ...window })]).toEqual([outside, within]);
});

test('work overlaps other work of the technician on other visits, which is neither canceled nor done, unless they only touch', () => {
  const visit = (id: string, from: number, to: number, fields: object = {}, status = 'TO_DO', who = 'ana') =>
    ({ id, canceled: false, assignments: [{ ...span(from, to), status, team_member: { id: who } }], ...fields }) as any;
  const visits = [
    visit('late', 90, 130),
    visit('early', 30, 61),
    visit('touches before', 30, 60),
    visit('touches after', 120, 150),
    visit('own', 60, 120),
    visit('canceled visit', 60, 120, { canceled: true }),
    visit('canceled', 60, 120, {}, 'CANCELED'),
    visit('done', 60, 120, {}, 'COMPLETED'),
    visit('of another', 60, 120, {}, 'TO_DO', 'ben'),
  ];
  expect(overlaps(visits, 'own', 'ana', span(60, 120)).map(({ visit: { id } }) => id)).toEqual(['early', 'late']);
});

test.each([
  [
    'STALE_REVISION',
    'expected_revision',
    'The visit has changed: send its revision.',
    'The visit was changed in the meantime. Look at it below, then press the button again.',
  ],
  ['OUT_OF_RANGE', 'starts_at', 'starts_at must be before ends_at.', '“From”: “From” must be before “To”.'],
  ['TOO_LARGE', 'customer_notification.message', 'Give at most 500 characters.', '“Message”: Give at most 500 characters.'],
])('the refusal %s of %s is in the words of the dialog', (code, field, message, said) => {
  const { message: text, details, requestId, status } = inWords(new Problem('No.', { status: 400, requestId: 'r-1', details: [{ code, field, message }] }));
  expect([text, details, requestId, status]).toEqual([said, [], 'r-1', 400]);
});

describe('what changed', () => {
  const ana = { id: 'a', team_member: { name: 'Ana' }, status: 'TO_DO', starts_at: at(1), ends_at: at(2) };
  const ben = { ...ana, id: 'b', team_member: { name: 'Ben' } };
  const visit = { starts_at: at(1), ends_at: at(2), window_start_at: at(1), window_end_at: at(2), description: '', canceled: false, confirmed: false };
  const minute = (text: string): string => String(Date.parse(text) / 60_000);
  test.each([
    ['a technician added', { assignments: [ana, ben] }, ['Ben was added for 1 – 2.']],
    ['a technician removed', { assignments: [] }, ['Ana was removed.']],
    ['a technician at another time', { assignments: [{ ...ana, ends_at: at(3) }] }, ['Ana now works 1 – 3.']],
    ['a technician who began', { assignments: [{ ...ana, status: 'EN_ROUTE' }] }, ['Ana is now en route.']],
    ['a visit moved', { ends_at: at(4) }, ['It was moved to 1 – 4.']],
    ['another window', { window_end_at: at(4) }, ['Its arrival window is now 1 – 4.']],
    ['canceled and confirmed', { canceled: true, confirmed: true }, ['The visit was canceled.', 'The customer confirmed it.']],
    ['another description', { description: 'Filter' }, ['Its description was changed.']],
    ['nothing that is shown', {}, ['Something was changed that is not shown here.']],
  ])('%s', (_, now, changes) => {
    const before = { ...visit, assignments: [ana] };
    expect(changesOf(before as any, { ...before, ...now } as any, minute)).toEqual(changes);
  });
});
