import { ServiceRequestChannel } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { buildCompany } from '../build-company.ts';
import type { DemoOptions } from '../options.ts';
import { drawOf, idOf, stream } from '../random.ts';
import { DAY, HOUR } from '../time.ts';
import { cityOf, phoneIn } from '../words/places.ts';
import { personOf } from '../words/people.ts';
import { accountId, customerOf, locationId, survivorOf } from './customers.ts';

const REQUESTS = stream('service requests');
const CHANNELS = [ServiceRequestChannel.PHONE, ServiceRequestChannel.WEB, ServiceRequestChannel.EMAIL];
const WISHES = [
  'No hot water since this morning',
  'Furnace blows cold air',
  'Kitchen drain is clogged again',
  'Breaker trips when the oven is on',
  'Would like a quote for a heat pump',
  'Water under the sink',
  'Thermostat stays blank',
  'Annual check before the season',
];

/** Unbooked requests, as IntakeService records them. Every third is from a stranger. */
export function generateRequests(options: DemoOptions) {
  const company = buildCompany(options);
  const { zone, today, size } = company;
  return WISHES.map((summary, n) => {
    const draw = drawOf(company, REQUESTS, n);
    const account = survivorOf(draw.below(size.accounts));
    const known = n % 3 !== 2;
    const person = known ? customerOf(company, account).person : personOf(draw, false);
    const starts = zone.instant((today + draw.between(1, 4)) * DAY + draw.between(8, 12) * HOUR);
    return {
      id: idOf(company, REQUESTS, n),
      channel: draw.pick(CHANNELS),
      summary,
      account_id: known ? accountId(company, account) : undefined,
      location_id: known ? locationId(company, account, 0) : undefined,
      contact_name: person.name,
      contact_phone: phoneIn(cityOf(company, account), draw),
      contact_email: `${person.handle}@example.org`,
      lead_source_id: draw.pick(company.leadSources).ref.id,
      requested_starts_at: starts,
      requested_ends_at: starts + 4 * HOUR,
    };
  });
}
