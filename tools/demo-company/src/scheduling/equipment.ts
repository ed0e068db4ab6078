import type { Equipment } from '@truckroll/contract/gen/scheduling/v1/equipment';
import { drawOf, stream } from '../random.ts';
import type { Given } from '../shapes/given.ts';
import type { Subject } from '../shapes/kinds.ts';
import { dateText } from '../time.ts';

const PIECES = stream('pieces of equipment');

const MAKERS = ['Trane', 'Carrier', 'Lennox', 'Rheem', 'Goodman', 'Daikin 大金', 'Bosch'] as const;
const KINDS = [
  ['Heat pump', 'HP'],
  ['Furnace', 'GF'],
  ['Condenser', 'AC'],
  ['Air handler', 'AH'],
  ['Water heater', 'WH'],
  ['Panel, 200 A', 'EP'],
] as const;
const ROOMS = ['Upstairs', 'Garage', 'Attic', 'Rooftop', 'Basement', 'Büro'] as const;

/** Equipment that a job found at the customer's site or installed there. Warranties begin with the installation, if its date is known. */
export function equipmentFacts({ company, n, job, createdAt, updatedAt }: Subject): Given<Equipment> {
  const draw = drawOf(company, PIECES, n);
  const { zone } = company;
  const [kind, code] = draw.pick(KINDS);
  const installed = job.type.jobClass === 'INSTALL' && job.completedAt !== null ? job.completedAt : null;
  const found = draw.chance(0.3) ? null : zone.day(createdAt) - draw.between(0, 20 * 365);
  const installedOn = installed === null ? found : zone.day(installed);
  const removed = draw.chance(0.12);
  const dated = (days: number | null) => (installedOn === null || days === null ? null : dateText(installedOn + days));
  const makers = draw.orNull(0.25, draw.pick([1, 5, 10, 12]));
  const labor = draw.orNull(0.5, draw.pick([1, 2]));
  const madeAt = installed ?? createdAt;
  const editedAt = Math.max(madeAt, updatedAt);
  return {
    name: `${draw.pick(ROOMS)} ${kind.toLowerCase()}`,
    type: draw.orNull(0.1, kind),
    status: removed ? 'REMOVED' : 'ACTIVE',
    manufacturer: draw.orNull(0.12, draw.pick(MAKERS)),
    model: draw.orNull(0.2, `${code}${draw.between(1000, 9999)}-${draw.between(18, 60)}`),
    installed_on: dated(0),
    ...(draw.chance(0.08) && { account: null }),
    install_job_id: installed === null ? null : job.id,
    removed_on: removed && !draw.chance(0.15) ? dateText(zone.day(editedAt)) : null,
    manufacturer_warranty_starts_on: dated(makers && 0),
    manufacturer_warranty_ends_on: dated(makers && makers * 365),
    labor_warranty_starts_on: dated(labor && 0),
    labor_warranty_ends_on: dated(labor && labor * 365),
    created_at: madeAt,
    updated_at: editedAt,
  };
}
