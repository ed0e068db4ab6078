import type { TeamMember, TeamMemberRole, TeamMemberStatus } from '@truckroll/contract/gen/scheduling/v1/team_members';
import type { Ground, Reference } from '../ground.ts';
import { drawOf, idOf, stream } from '../random.ts';
import { pickTags, type Tag, type Unit } from '../reference.ts';
import { DAY, HOUR } from '../time.ts';
import { phoneIn } from '../words/places.ts';
import { personOf } from '../words/people.ts';
import type { Given, Spelled } from '../shapes/given.ts';

const MEMBERS = stream('team members');

type Role = Spelled<TeamMemberRole>;

const OFFICE: readonly Role[] = ['OWNER', 'ADMIN', 'OFFICE', 'OFFICE', 'DISPATCHER', 'SALES', 'SALES', 'OTHER'];
const FIELD: readonly Role[] = [...Array.from({ length: 11 }, (): Role => 'TECHNICIAN'), 'OFFICE', 'DISPATCHER', 'SALES'];
const FIELD_UNITS = [0, 2, 1, 3, 0, 2, 0, 1, 3, 0, 2];
const COLORS = ['#E6194B', '#3CB44B', '#4363D8', '#F58231', '#911EB4', '#46F0F0'];
const UNIT_OF_SALES = 4;

export type Member = ReturnType<typeof buildMember>;
export type Members = ReturnType<typeof buildMembers>;

export function buildMembers(ground: Ground, units: readonly Unit[], tags: readonly Tag[]) {
  const all: Member[] = [];
  for (let n = 0; n < ground.size.members; n++) {
    const place = n - OFFICE.length;
    const role = (place < 0 ? OFFICE[n] : FIELD[place % FIELD.length]) as Role;
    const unit = role === 'TECHNICIAN' ? (FIELD_UNITS[place % FIELD.length] ?? 0) : role === 'SALES' ? UNIT_OF_SALES : null;
    all.push(buildMember(ground, units, tags, n, role, unit));
  }
  const working = all.filter(({ leftAt }) => leftAt > ground.since);
  const technicians = working.filter(({ role }) => role === 'TECHNICIAN');
  const sales = working.filter(({ role }) => role === 'SALES');
  /** The members to send, by business unit, preferred ones first. Invited members are left out. */
  const crews = units.map((_, unit) => {
    const own = technicians.filter((member) => member.unit === unit);
    if (unit === UNIT_OF_SALES) return [...sales, ...technicians];
    return own.length >= 8 ? own : [...own, ...technicians.filter((member) => !own.includes(member))];
  });
  // Those of the office take bookings and enter records.
  return { all, office: working.filter(({ n }) => n > 0 && n < 5), sales, technicians, crews };
}

/**
 * `unit` is the number of the business unit, null in the office. In every run of eleven field members the fifth has left, the
 * eighth is invited and the last has been away for a month.
 */
function buildMember(ground: Ground, units: readonly Unit[], tags: readonly Tag[], n: number, role: Role, unit: number | null) {
  const draw = drawOf(ground, MEMBERS, n);
  const person = personOf(draw, n % 12 === 9);
  const city = draw.pick(ground.cities);
  const place = role === 'TECHNICIAN' ? (n - OFFICE.length) % FIELD.length : -1;
  const status: Spelled<TeamMemberStatus> = place === 4 ? 'INACTIVE' : place === 7 ? 'INVITED' : 'ACTIVE';
  const createdAt = status === 'INVITED' ? ground.until - 2 * DAY - n : ground.founded + n * HOUR;
  // From then on no work is planned for the member, who left or is unavailable.
  let leftAt = Number.POSITIVE_INFINITY;
  if (status === 'INVITED') leftAt = 0;
  else if (status === 'INACTIVE') leftAt = ground.since + draw.between(300, 600) * DAY;
  else if (place === 10) leftAt = ground.until - 30 * DAY;
  const ref: Reference = { id: idOf(ground, MEMBERS, n), name: person.name };
  const given: Given<TeamMember> = {
    ...ref,
    first_name: person.first,
    last_name: person.last,
    email: n % 10 === 9 ? null : `${person.handle}.${n}@example.com`,
    phone: n % 5 === 3 ? null : phoneIn(city, draw),
    role,
    title: n % 4 === 1 ? null : role === 'TECHNICIAN' ? (n % 3 === 0 ? 'Lead technician' : 'Technician') : titleOf(role),
    status,
    assignable: (role === 'TECHNICIAN' || role === 'SALES') && leftAt > ground.until,
    business_unit: unit === null ? null : (units[unit] as Unit).ref,
    tags: pickTags(tags, 'TEAM_MEMBER', draw, place === 0),
    color: n % 6 === 2 ? null : (COLORS[n % COLORS.length] as string),
    created_at: createdAt,
    updated_at: Number.isFinite(leftAt) && leftAt > 0 ? leftAt : createdAt + (n % 3) * HOUR,
  };
  return { n, ref, role, unit, leftAt, given };
}

function titleOf(role: Role): string {
  return {
    OWNER: 'Owner',
    ADMIN: 'Controller',
    OFFICE: 'Customer service',
    DISPATCHER: 'Dispatch',
    SALES: 'Comfort advisor',
    TECHNICIAN: 'Technician',
    OTHER: 'Bookkeeper (external)',
  }[role];
}
