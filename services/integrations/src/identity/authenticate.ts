import { formatInstant, isUuid } from '@truckroll/contract';
import type {
  AuthenticateRequest,
  AuthenticateResponse,
  KeyUse,
  Principal,
  RequestLimits,
  TouchKeysRequest,
  TouchKeysResponse,
} from '@truckroll/contract/gen/integrations/v1/identity';
import { notFrozen, type Queryable, type Statement } from '@truckroll/postgres';
import type { Context } from '../context.ts';

type Limits = RequestLimits | null;

/** A company whose requests another cell serves (docs/adr/0029). */
interface Placed {
  away: boolean;
  lives_in: string | null;
}

interface Row extends Omit<Principal, 'limits' | 'company_limits' | 'highest_limits'> {
  limits?: Limits;
  company: Limits;
  highest: Limits;
}

const PLACE = 'p.company_id is not null as away, p.cell as lives_in';

const CLASSES = ['reads', 'reports', 'writes'];
/** SQL for the limits of a table's rows as one JSON object by class, with an optional aggregate function `make`. */
const limitsOf = (table: string, make = ''): string =>
  `json_build_object(${CLASSES.map((name) => `'${name}', ${make}(${table}.${name}_per_minute)`).join(', ')})`;
const COMPANY = `${limitsOf('c')} as company, (select ${limitsOf('h', 'max')} from api_keys h
  where h.company_id = c.id and h.revoked_at is null and (h.expires_at is null or h.expires_at > now())) as highest`;

const byKey = (hash: Buffer): Statement => ({
  name: 'authenticate_key',
  text: `select c.id as company_id, c.name as company_name, c.timezone as time_zone, c.sandbox, 'PRINCIPAL_KIND_KEY' as kind, k.id as key_id,
      u.id as user_id, k.expires_at, ${limitsOf('k')} as limits, ${COMPANY}, ${PLACE}
    from api_keys k
    join users u on u.id = k.user_id and u.company_id = k.company_id and u.active
    join companies c on c.id = k.company_id
    left join company_places p on p.company_id = k.company_id
    where k.hash = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`,
  values: [hash],
});

/** The gateway trusts a single issuer, so the subject alone identifies a user. */
const byToken = (subject: string, companyId: string): Statement => ({
  name: 'authenticate_user',
  text: `select c.id as company_id, c.name as company_name, c.timezone as time_zone, c.sandbox, 'PRINCIPAL_KIND_USER' as kind, null as key_id,
      u.id as user_id, null as expires_at, ${COMPANY}, ${PLACE}
    from users u join companies c on c.id = u.company_id
    left join company_places p on p.company_id = u.company_id
    where u.subject = $1 and u.company_id = $2 and u.active`,
  values: [subject, companyId],
});

const keyHere = (hash: Buffer): Statement => ({
  name: 'company_of_key_is_here',
  text: 'select from api_keys k where k.hash = $1 and not exists (select from company_places p where p.company_id = k.company_id)',
  values: [hash],
});

const companyHere = (id: string): Statement => ({
  name: 'company_is_here',
  text: 'select from companies c where c.id = $1 and not exists (select from company_places p where p.company_id = c.id)',
  values: [id],
});

/** An unknown credential is not an error: the principal is null. */
async function authenticate({ database, cell }: Context, request: AuthenticateRequest): Promise<AuthenticateResponse> {
  const { key_hash: hash, user } = request;
  if (hash != null) return await find(database, byKey(hash), cell === undefined ? undefined : keyHere(hash));
  // The claims of a token from another issuer can be anything.
  if (user == null || !isUuid(user.company_id) || user.subject.includes('\0')) return { principal: null };
  return await find(database, byToken(user.subject, user.company_id), cell === undefined ? undefined : companyHere(user.company_id));
}

/** `isHere`: whether the company of a credential that is not valid lives here. */
async function find(db: Queryable, statement: Statement, isHere: Statement | undefined): Promise<AuthenticateResponse> {
  const { rows } = await db.query<Row & Placed>(statement);
  if (rows[0] === undefined) return { principal: null, refused: isHere !== undefined && (await db.query(isHere)).rowCount > 0 };
  const { company: company_limits, highest: highest_limits, limits = null, away, lives_in: cell, ...principal } = rows[0];
  const found = { ...principal, limits, company_limits, highest_limits };
  return away ? { principal: null, elsewhere: { cell } } : { principal: found };
}

async function touch({ database }: Context, request: TouchKeysRequest): Promise<TouchKeysResponse> {
  const uses = request.uses.filter((use) => isUuid(use.company_id) && isUuid(use.key_id));
  if (uses.length > 0) await touchKeys(database, uses);
  return {};
}

/** Records the last uses of keys, without those of frozen companies; earlier times change nothing. Locks rows in the order of their ids to avoid deadlocks. */
export async function touchKeys(db: Queryable, uses: readonly KeyUse[]): Promise<void> {
  await db.query({
    name: 'touch_keys',
    text: `update api_keys k set last_used_at = v.used_at
      from (select k.company_id, k.id, u.used_at from api_keys k
        join unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) u (company_id, id, used_at) on k.id = u.id and k.company_id = u.company_id
        where (k.last_used_at is null or k.last_used_at < u.used_at) and ${notFrozen('k.company_id')}
        order by k.id for update of k) v
      where k.company_id = v.company_id and k.id = v.id`,
    values: [uses.map((use) => use.company_id), uses.map((use) => use.key_id), uses.map((use) => formatInstant(use.used_at))],
  });
}

export const identity = { authenticate, touchKeys: touch };
