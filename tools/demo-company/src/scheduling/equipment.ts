import type { Company } from '../company.ts';
import { drawOf, idOf } from '../ground.ts';
import type { Enum } from '../enums.ts';
import { hash, stream, type Draw } from '../random/keyed.ts';
import { dateText, instantText } from '../time/instant.ts';
import { EQUIPMENT_NOTES } from '../words/phrases.ts';
import { accountCreatedAt, accountRef, editedAt, isCommercial } from './customers.ts';
import { planJob } from './job-plan.ts';
import { locationCount, locationId } from './locations.ts';

const FOUND = stream('equipment found');
const INSTALLED = stream('equipment installed');
const COUNTS = stream('pieces of equipment');

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

interface Piece {
  readonly id: string;
  readonly location: string;
  readonly account: number;
  readonly createdAt: number;
  /** Local day, or null when nobody knows. */
  readonly installedOn: number | null;
  readonly jobId: string | null;
}

/** What technicians found at customers' places, then what the company's own jobs installed. */
export function* buildEquipment(company: Company) {
  const { seed, size, zone } = company;
  for (let account = 0; account < size.accounts; account++) {
    for (let k = 0; k < locationCount(company, account); k++) {
      const count = (hash(seed, COUNTS, account, k) % 3) + (isCommercial(company, account) ? 1 : 0);
      for (let piece = 0; piece < count; piece++) {
        const draw = drawOf(company, FOUND, account, k * 8 + piece);
        const createdAt = editedAt(draw, accountCreatedAt(company, account), company.until);
        const installedOn = draw.chance(0.3) ? null : zone.day(createdAt) - draw.between(0, 20 * 365);
        const location = locationId(company, account, k);
        const id = idOf(company, FOUND, account, k * 8 + piece);
        yield buildPiece(company, draw, { id, location, account, createdAt, installedOn, jobId: null });
      }
    }
  }
  for (let n = 0; n < size.jobs; n++) {
    const job = planJob(company, n);
    if (job.type.jobClass !== 'INSTALL' || job.completedAt === null) continue;
    const location = locationId(company, job.account, job.location);
    yield buildPiece(company, drawOf(company, INSTALLED, n), {
      id: idOf(company, INSTALLED, n),
      location,
      account: job.account,
      createdAt: job.completedAt,
      installedOn: zone.day(job.completedAt),
      jobId: job.id,
    });
  }
}

function buildPiece(company: Company, draw: Draw, piece: Piece) {
  const { installedOn } = piece;
  const [kind, code] = draw.pick(KINDS);
  const removed = draw.chance(0.12);
  const status: Enum<'EquipmentStatus'> = removed ? 'REMOVED' : 'ACTIVE';
  const removedAt = removed && !draw.chance(0.15) ? editedAt(draw, piece.createdAt, company.until) : null;
  /** Years of the two warranties; a piece without a known date of installation has none. */
  const makers = installedOn === null || draw.chance(0.25) ? null : draw.pick([1, 5, 10, 12]);
  const labor = installedOn === null || draw.chance(0.5) ? null : draw.pick([1, 2]);
  const dated = (days: number | null) => (installedOn === null || days === null ? null : dateText(installedOn + days));
  return {
    id: piece.id,
    name: `${draw.pick(ROOMS)} ${kind.toLowerCase()}`,
    type: draw.orNull(0.1, kind),
    status,
    location_id: piece.location,
    account: draw.orNull(0.08, accountRef(company, piece.account)),
    manufacturer: draw.orNull(0.12, draw.pick(MAKERS)),
    model: draw.orNull(0.2, `${code}${draw.between(1000, 9999)}-${draw.between(18, 60)}`),
    serial_number: draw.orNull(0.25, `${draw.between(10, 99)}${draw.between(100_000, 999_999)}K`),
    installed_on: dated(0),
    install_job_id: piece.jobId,
    removed_on: removedAt === null ? null : dateText(company.zone.day(removedAt)),
    manufacturer_warranty_starts_on: dated(makers === null ? null : 0),
    manufacturer_warranty_ends_on: dated(makers === null ? null : makers * 365),
    labor_warranty_starts_on: dated(labor === null ? null : 0),
    labor_warranty_ends_on: dated(labor === null ? null : labor * 365),
    notes: draw.orNull(0.7, draw.pick(EQUIPMENT_NOTES)),
    created_at: instantText(piece.createdAt),
    updated_at: instantText(removedAt ?? piece.createdAt),
  };
}
