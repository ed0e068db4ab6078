import { checkRanges, operations, requestCheck, resources, shapeNamed } from '../src/index.ts';

const command = shapeNamed('truckroll.scheduling.v1.AddAssignmentRequest');

test('a time that must be after another is refused if it is equal or earlier', () => {
  for (const ends_at of [1, 2]) {
    expect(checkRanges(command, { starts_at: 2, ends_at })).toEqual([
      { field: 'ends_at', code: 'RANGE_ORDER', message: 'Give an end that is after starts_at.' },
    ]);
  }
  expect(checkRanges(command, { starts_at: 2, ends_at: 3 })).toEqual([]);
});

test('a missing time is not checked', () => {
  const messages = [{}, { starts_at: 2 }, { ends_at: 1 }, { starts_at: null, ends_at: 0 }];
  expect(messages.flatMap((message) => checkRanges(command, message))).toEqual([]);
});

test('the check of internal requests reports ranges together with other problems', () => {
  const checked = requestCheck('truckroll.scheduling.v1');
  const asked = { company_id: 'x', requested_starts_at: 2, requested_ends_at: 1 };
  expect(() => checked('RecordServiceRequestRequest', asked)).toThrow(
    expect.objectContaining({
      details: expect.arrayContaining([
        expect.objectContaining({ field: 'company_id', code: 'INVALID_UUID' }),
        expect.objectContaining({ field: 'requested_ends_at', code: 'RANGE_ORDER' }),
      ]),
    }),
  );
});

test('every field that must be after another is a timestamp, and so is the other', () => {
  const shapes = [...resources.map(({ record }) => record), ...operations.map(({ request }) => request)];
  const ranges = shapes.flatMap((shape) =>
    shape.fields.flatMap((field) => (field.after === undefined ? [] : [[field.kind, shape.byName.get(field.after)?.kind]])),
  );
  expect(ranges.length).toBeGreaterThan(2);
  for (const kinds of ranges) expect(kinds).toEqual(['timestamp', 'timestamp']);
});
