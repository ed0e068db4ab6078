import type { Account } from '@truckroll/contract/gen/scheduling/v1/accounts';
import type { Company } from '../company.ts';
import { drawOf } from '../ground.ts';
import { stream } from '../random/keyed.ts';
import { Rota } from '../random/rota.ts';
import { pickTags } from '../reference/tags.ts';
import { makerOf } from '../shapes/maker.ts';
import { addressIn, cityOf, phoneIn } from '../words/address.ts';
import { contactRef, contactCount } from './contacts.ts';
import { accountCreatedAt, accountId, customerOf, editedAt, survivorOf } from './customers.ts';

const make = makerOf<Account>('accounts');
const DETAILS = stream('account details');
const ARCHIVED = new Rota('archived accounts', [
  [true, 1],
  [false, 14],
]);
const REFUSED = new Rota('accounts without service', [
  [true, 1],
  [false, 19],
]);

export function buildAccount(company: Company, n: number) {
  const { name, person, building } = customerOf(company, n);
  const draw = drawOf(company, DETAILS, n);
  const city = cityOf(company, n);
  const commercial = building !== null;
  const createdAt = accountCreatedAt(company, n);
  const survivor = survivorOf(n);
  const merged = survivor !== n;
  const source = draw.pick(company.leadSources).ref;
  return make(company, n, {
    id: accountId(company, n),
    name,
    type: commercial ? 'COMMERCIAL' : 'RESIDENTIAL',
    archived: merged || ARCHIVED.at(company.seed, n),
    company_name: commercial ? name : null,
    phone: draw.orNull(0.15, phoneIn(city, draw)),
    email: draw.orNull(0.3, `${commercial ? 'billing' : person.handle}.${n}@example.com`),
    billing_address: draw.orNull(0.4, addressIn(company, city, draw, 1, n)),
    primary_contact: contactCount(company, n) === 0 ? null : contactRef(company, n, 0),
    lead_source: draw.orNull(0.3, source),
    tags: pickTags(company.tags, 'ACCOUNT', draw),
    do_not_service: REFUSED.at(company.seed, n),
    notifications_enabled: draw.chance(0.85),
    merged_into_id: merged ? accountId(company, survivor) : null,
    created_by: draw.orNull(0.3, draw.pick(company.members.office).ref),
    created_at: createdAt,
    updated_at: editedAt(draw, createdAt, company.until),
  });
}
