// A company with a day's work in the console, for tests of the board that shows it.
import { randomUUID } from 'node:crypto';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import type { Page } from 'puppeteer-core';
import * as line from '../../services/scheduling/test/records.ts';
import type { TestCompany } from '../support/system.ts';
import { shows, startConsole, tabTo, type ConsoleSetup } from './start-console.ts';

const HOUR_MS = 3_600_000;
/** A zone in which it is past noon, so that there is work before and after now whenever this runs. */
const offset = 12 - new Date().getUTCHours();
export const timezone = offset === 0 ? 'UTC' : `Etc/GMT${offset > 0 ? '-' : '+'}${Math.abs(offset)}`;
const midnight = Math.floor((Date.now() + offset * HOUR_MS) / (24 * HOUR_MS)) * 24 * HOUR_MS - offset * HOUR_MS;
export const at = (hour: number): string => new Date(midnight + hour * HOUR_MS).toISOString();
export const dayOf = (text: string): string => new Date(text).toLocaleDateString('sv-SE', { timeZone: timezone });
export const clock = (text: string): string => new Date(text).toLocaleTimeString('en-US', { timeZone: timezone, hour: 'numeric', minute: '2-digit' });

export const [ana, ben, chen, dee] = ['Ana Ruiz', 'Ben Cole', 'Chen Li', 'Dee Young'].map((name) => line.teamMember({ name })) as [any, any, any, any];
/** Two technicians of one name. */
export const eves = ['eve@example.com', 'eve.lane@example.com'].map((email) => line.teamMember({ name: 'Eve Lane', email })) as [any, any];
const rosa = line.ref(randomUUID(), 'Rosa Vela');
const [home, shop] = [line.account({ name: 'Núñez Residence', phone: '+15125550142' }), line.account({ name: 'Cedar Hill Bakery', primary_contact: rosa })];
const mobile = { type: 'MOBILE', value: '+15125550199' };
const place = line.location();
export const jobs = [home, shop].map((account) => line.job({ account: line.ref(account['id'], account['name']), location_id: place['id'] })) as [any, any];
export const visit = (number: string, from: number, to: number, fields: object = {}) =>
  line.visit({ number, job_id: jobs[0].id, starts_at: at(from), ends_at: at(to), window_start_at: at(from - 1), window_end_at: at(to + 1), ...fields });
export const work = (of: any, who: any, status: string) =>
  line.assignment({ job_id: of.job_id, appointment_id: of.id, team_member: line.ref(who.id), starts_at: of.starts_at, ends_at: of.ends_at, status });

export const [done, begun, late, open, canceled, night, tomorrow, moved] = [
  visit('V-1', 8, 10),
  visit('V-2', 9.5, 11.5, { job_id: jobs[1].id }),
  visit('V-3', 11, 13),
  visit('V-4', 14, 16, { job_id: jobs[1].id }),
  visit('V-5', 13, 14, { canceled: true, cancellation_reason: 'Weather' }),
  visit('V-6', -2, 1),
  visit('V-7', 33, 35),
  visit('V-8', 15, 17, { job_id: jobs[1].id }),
] as const;
export const others = [visit('V-9', 16, 17), visit('V-10', 17, 18)] as const;
/**
 * The first had no technician, that of the second was taken off, the third takes longer than its arrival window, and the fourth is while it lasts. The
 * fifth is tomorrow, but its technician works on it today, while the fourth lasts.
 */
export const [missed, left, long, beside, early] = [
  visit('V-11', 9, 10),
  visit('V-12', 18, 19),
  visit('V-13', 14, 18, { window_end_at: at(16) }),
  visit('V-14', 15, 16),
  visit('V-15', 33, 34),
] as const;

export interface Day {
  readonly setup: ConsoleSetup;
  readonly company: TestCompany;
  readonly page: Page;
  /** Data of the API. */
  read(path: string): Promise<any>;
  go(place: string): Promise<void>;
  /** Opens the dialog that adds a technician, by the keyboard. */
  openAdding(number: string, technician: string): Promise<void>;
}

let started: Promise<Day> | undefined;

/** Starts it once, for tests in several files. */
export const startDay = (): Promise<Day> => (started ??= start());

async function start(): Promise<Day> {
  const setup = await startConsole();
  const company = await setup.company(timezone);
  const contact = {
    ...{ ...rosa, account: line.ref(shop['id']), is_primary: true, archived: false, created_at: at(-50), updated_at: at(-50) },
    ...{ primary_channel: mobile, channels: [{ id: randomUUID(), ...mobile, is_primary: true, opted_out: false }] },
  };
  const dayOff = line.timeEntry({ team_member: line.ref(dee.id), activity: 'TIME_OFF', source: 'MANUAL', starts_at: at(8), ends_at: at(16) });
  const assignments = [
    work(done, ana, 'COMPLETED'),
    work(begun, ana, 'IN_PROGRESS'),
    work(late, ben, 'TO_DO'),
    work(night, ben, 'COMPLETED'),
    work(moved, ana, 'TO_DO'),
    work(left, eves[0], 'CANCELED'),
    { ...work(early, dee, 'TO_DO'), starts_at: at(15), ends_at: at(16) },
  ];
  for (const [path, records] of [
    ['accounts', [home, shop]],
    ['contacts', [contact]],
    ['locations', [place]],
    ['team-members', [ana, ben, chen, dee, ...eves]],
    ['jobs', jobs],
    ['job-appointments', [done, begun, late, open, canceled, night, tomorrow, moved, ...others, missed, left, long, beside, early]],
    ['job-assignments', assignments],
    ['time-entries', [dayOff]],
  ] as const) {
    expect([path, (await setup.system.importRecords(company, path, records)).problems]).toEqual([path, []]);
  }
  const intake = setup.system.channel('scheduling').client(IntakeServiceService);
  for (const fields of [
    { summary: 'AC not cooling', contact_name: 'Rosa Vela', contact_phone: '+15125550123', contact_email: 'rosa@example.com' },
    { summary: 'Smell of gas', account_id: home['id'] },
  ]) {
    await intake.recordServiceRequest({ company_id: company.id, id: randomUUID(), channel: 'SERVICE_REQUEST_CHANNEL_PHONE', ...fields } as never);
  }
  const page = await setup.enter(company, '/today');

  async function openAdding(number: string, technician: string): Promise<void> {
    await page.waitForSelector(`[aria-label="Change ${number}"]`);
    await page.focus(`[aria-label="Change ${number}"]`);
    await page.keyboard.press('Enter');
    await shows(page, `Visit ${number}`);
    await tabTo(page, 'Add technician…');
    await page.keyboard.press('Enter');
    await shows(page, `Add a technician to ${number}`);
    await tabTo(page, 'team_member_id');
    await page.keyboard.type(technician);
  }

  return {
    ...{ setup, company, page, openAdding },
    read: async (path) => (await setup.system.get(company, `/v1/${path}`)).body.data,
    go: (to) => page.evaluate((hash) => void (location.hash = hash), to),
  };
}

export const names = ({ assignments }: any): string[] => assignments.map(({ team_member: { name } }: any) => name).sort();
