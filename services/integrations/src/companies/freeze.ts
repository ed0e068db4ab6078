// A company is frozen (docs/adr/0026): integrations records when, and begins no more work for it. The operator's command then has each service
// refuse changes, also this one.
import { ApiError } from '@truckroll/contract';
import type {
  FreezeCompanyRequest,
  FreezeCompanyResponse,
  UnfreezeCompanyRequest,
  UnfreezeCompanyResponse,
} from '@truckroll/contract/gen/integrations/v1/admin';
import { refuseErased } from '@truckroll/outbox';
import type { Queryable } from '@truckroll/postgres';
import { audit } from '../audit/store.ts';
import type { Context } from '../context.ts';
import { checked } from '../requests.ts';
import { offerAgain } from '../webhooks/events/dead-letters.ts';
import { lockCompany } from './store.ts';

const unknown = (): ApiError => new ApiError('NOT_FOUND', 'There is no company with this id: see the ids with `truckroll company list`.');
const auditedOf = (id: string) => ({ companyId: id, object: { kind: 'company', id } });

/** Webhooks that are being sent, and e-mails: their results are stored first, so that none is sent twice. */
export const underWay = `case
  when exists (select from webhook_queue where company_id = $1::uuid and leased_until > now()) then 'webhooks that are being sent'
  when exists (select from mails where company_id = $1::uuid and status = 'ATTEMPTING' and attempt_ends_at > now()) then 'e-mails that are being sent' end`;

/**
 * Begins a freeze, unless it has begun. Returns its time, and what must end before the next step. Errors: 404 for an unknown company, 409 for a
 * deleted one.
 */
export async function freezeCompany({ database }: Context, request: FreezeCompanyRequest): Promise<FreezeCompanyResponse> {
  const { id } = checked('FreezeCompanyRequest', request);
  return await database.transaction(async (tx) => {
    const company = await lockCompany(tx, id);
    await refuseErased(tx, id);
    if (company === undefined) throw unknown();
    const { rowCount } = await tx.query({ text: 'insert into frozen_companies (company_id) values ($1) on conflict do nothing', values: [id] });
    if (rowCount > 0) await audit(tx, { ...auditedOf(company.id), action: 'company.frozen' });
    const { rows } = await tx.query<FreezeCompanyResponse>({
      text: `select begun_at as frozen_at, ${underWay} as waits_for from frozen_companies where company_id = $1::uuid`,
      values: [id],
    });
    return rows[0]!;
  });
}

/**
 * Ends what `freezeCompany` began, if anything, and offers dead letters again. Errors: 404 for an unknown company, 409 while
 * this service still refuses changes.
 */
export async function unfreezeCompany({ database }: Context, request: UnfreezeCompanyRequest): Promise<UnfreezeCompanyResponse> {
  const { id } = checked('UnfreezeCompanyRequest', request);
  await database.transaction(async (tx) => {
    const company = await lockCompany(tx, id);
    if (company === undefined) throw unknown();
    const { rows } = await tx.query<{ closed: boolean }>({
      text: 'delete from frozen_companies where company_id = $1 returning closed_at is not null as closed',
      values: [id],
    });
    if (rows[0]?.closed === true) throw new ApiError('INVALID_REQUEST', 'Integrations still refuses changes: unfreeze it first.', { status: 409 });
    if (rows.length === 0) return;
    await offerAgain(tx, company.id);
    await audit(tx, { ...auditedOf(company.id), action: 'company.unfrozen' });
  });
  return {};
}

/** Errors: 409 while the company is frozen, or about to be. Calls whose work outlasts their transaction begin with it. */
export async function refuseFreezing(tx: Queryable, id: string): Promise<void> {
  const { rowCount } = await tx.query({ name: 'is_freezing', text: 'select from frozen_companies where company_id = $1', values: [id] });
  if (rowCount === 0) return;
  // Only the end of the move unfreezes it then.
  await refuseMoving(tx, id);
  throw new ApiError('INVALID_REQUEST', 'The company is frozen: run `truckroll company unfreeze` first.', { status: 409 });
}

/** Errors: 409 while the company is being moved: its rows would be deleted in the other database too. */
export async function refuseMoving(tx: Queryable, id: string): Promise<void> {
  const { rowCount } = await tx.query({ name: 'is_moving', text: 'select from moves where company_id = $1', values: [id] });
  if (rowCount === 0) return;
  const message = 'The company is being moved: first end that, by `truckroll company move` and then with --confirm, or give it up with --abort.';
  throw new ApiError('INVALID_REQUEST', message, { status: 409 });
}
