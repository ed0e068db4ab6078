import { answeringText, trying } from '../../../services/scheduling/src/assignments/idempotency.ts';
import { withoutLock } from './check-then-insert/database.ts';

test('the statements of a write are still those that the bug replaces', () => {
  expect(withoutLock(trying('$1'))).toContain('$1::text is not null as free');
  expect(withoutLock(answeringText(1))).toMatch(/values \(.*\) on conflict \(company_id, user_id, key\) do update/);
});
