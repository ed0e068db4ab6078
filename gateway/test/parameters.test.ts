// Parameters that no operation of the contract has at the moment: these tests change an existing one.
import { operations, type Field, type Operation } from '@truckroll/contract';
import { describeParameters } from '../src/openapi/parameters.ts';
import { Components } from '../src/openapi/schemas.ts';
import { inputsOf } from '../src/routes/inputs.ts';

const inputs = inputsOf(operations.find(({ name }) => name === 'GetJobProfitabilityReport') as Operation);

/** How `include_excluded_job_types` is described if its field is changed. */
function described(change: Partial<Field>) {
  const query = inputs.query.map((parameter) =>
    parameter.name === 'include_excluded_job_types' ? { ...parameter, field: { ...parameter.field, ...change } } : parameter,
  );
  return describeParameters({ ...inputs, query }, new Components(new Set())).find(({ name }) => name === 'include_excluded_job_types');
}

test('describes a deprecated parameter with the day of its removal, and no other', () => {
  expect(described({ deprecation: { since: '2027-01-01', sunset: '2028-01-01' } })).toMatchObject({ deprecated: true, 'x-sunset': '2028-01-01' });
  expect(Object.keys(described({}) ?? {})).not.toEqual(expect.arrayContaining(['deprecated']));
});

test.each([
  ['true', true],
  ['false', false],
])('describes the default %s of a boolean as JSON', (text, expected) => {
  expect(described({ defaults: [text] })).toMatchObject({ schema: { type: 'boolean', default: expected } });
});
