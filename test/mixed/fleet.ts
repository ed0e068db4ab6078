// Two replicas of every component, each at the release that it was last moved to. A replica is replaced once a new one is ready.
import { join, relative } from 'node:path';
import { openChannel, type Channel } from '@truckroll/grpc';
import { ROOT, choosePort } from '@truckroll/local-stack';
import type { ProcessPlan } from '../../tools/local-stack/src/start/plan.ts';
import type { Prepared, Running } from '../faults/system/prepared.ts';
import { Program } from '../faults/system/program.ts';
import { openFront, type Front } from './front.ts';
import type { Component, Side } from './plan.ts';

const REPLICAS = 2;
const PLACES = 2 * REPLICAS;
/**
 * Time that a draining replica still serves, as in the chart. A gateway's clients must use each kept-alive connection once more, to
 * learn that it will close: an idle one is closed without notice.
 */
const DRAIN_DELAY = { service: '1s', gateway: '5s' };

interface Place {
  readonly port: number;
  readonly metricsPort: number;
  program?: Program | undefined;
}

type Places = ReadonlyMap<Component, readonly Place[]>;
export type Folders = Readonly<Record<Side, string>>;

export class Fleet implements Running {
  readonly database;
  readonly kafka;
  readonly issuer;
  readonly baseUrl: string;
  readonly #prepared: Prepared;
  readonly #folders: Folders;
  readonly #places: Places;
  readonly #front: Front;
  readonly #channels = new Map<string, Channel>();
  readonly #all: Program[] = [];
  readonly #running = new Set<Program>();
  readonly #disorder: string[] = [];
  readonly #draining = new Map<Component, Promise<unknown>>();

  private constructor(prepared: Prepared, folders: Folders, places: Places, front: Front) {
    ({ database: this.database, kafka: this.kafka, issuer: this.issuer } = prepared);
    this.baseUrl = `http://127.0.0.1:${front.port}`;
    this.#prepared = prepared;
    this.#folders = folders;
    this.#places = places;
    this.#front = front;
  }

  static async start(prepared: Prepared, folders: Folders, side: Side): Promise<Fleet> {
    const taken = new Set<number>();
    const port = async (): Promise<number> => {
      const chosen = await choosePort(taken);
      taken.add(chosen);
      return chosen;
    };
    const places = new Map<Component, Place[]>();
    for (const { name } of prepared.plan.processes) {
      const of: Place[] = [];
      for (let i = 0; i < PLACES; i++) of.push({ port: await port(), metricsPort: await port() });
      places.set(name as Component, of);
    }
    const fleet = new Fleet(prepared, folders, places, await openFront(await port()));
    // One replica of each first, so that schemas and topics are created only once.
    for (let replica = 0; replica < REPLICAS; replica++) {
      await Promise.all([...places].map(([component, of]) => fleet.#launch(component, of[replica]!, side)));
    }
    fleet.#updateFront();
    return fleet;
  }

  /** Moves a component to a side: each replica drains once a new one is ready. Resolves when the last one has begun to drain. */
  async move(component: Component, to: Side): Promise<void> {
    await this.#draining.get(component);
    const places = this.#places.get(component)!;
    const olds = places.filter(({ program }) => program !== undefined);
    const free = places.filter(({ program }) => program === undefined);
    let gone: Promise<unknown> = Promise.resolve();
    for (const [index, old] of olds.entries()) {
      const starting = this.#launch(component, free[index]!, to);
      // The previous replica drains during this start.
      await Promise.all([starting, gone]);
      gone = this.#drain(old);
    }
    this.#draining.set(component, gone);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#draining.values());
  }

  /** Whether a replica of this side runs, also one that drains. */
  runs(component: Component, side: Side): boolean {
    return [...this.#running].some(({ name }) => name.startsWith(`${component}-`) && name.endsWith(`-${side}`));
  }

  channel(name: string): Channel {
    let channel = this.#channels.get(name);
    const { credentials } = this.#prepared;
    if (channel === undefined) this.#channels.set(name, (channel = openChannel(this.#addressOf(name as Component), { credentials })));
    return channel;
  }

  get accidents(): string[] {
    return [...this.#disorder, ...this.#all.flatMap(({ name, ends, log }) => ends.map((end) => `${name} ended by itself (${end}): see ${log}`))];
  }

  get folder(): string {
    return this.#prepared.folder;
  }

  async close(): Promise<void> {
    for (const program of this.#all) program.release();
    for (const channel of this.#channels.values()) channel.close();
    await this.#front.close();
  }

  /** Every port of a component, used or not: clients connect to those that answer. */
  #addressOf(component: Component): string {
    return `ipv4:${this.#places
      .get(component)!
      .map(({ port }) => `127.0.0.1:${port}`)
      .join()}`;
  }

  async #launch(component: Component, place: Place, side: Side): Promise<void> {
    const planned = this.#prepared.plan.processes.find(({ name }) => name === component)!;
    const { logs, watchdog, environment } = this.#prepared;
    const program = new Program({ plan: this.#planAt(planned, place, side), logs, watchdog, environment });
    place.program = program;
    this.#all.push(program);
    this.#running.add(program);
    await program.start();
    this.#updateFront();
  }

  #planAt(planned: ProcessPlan, { port, metricsPort }: Place, side: Side): ProcessPlan {
    const readyPort = planned.name === 'gateway' ? port : metricsPort;
    const own = Object.keys(planned.environment).filter((name) => name.endsWith('_ADDRESS'));
    const addresses = Object.fromEntries(own.map((name) => [name, this.#addressOf(name.replace('_ADDRESS', '').toLowerCase() as Component)]));
    return {
      ...planned,
      name: `${planned.name}-${port}-${side}`,
      script: join(this.#folders[side], relative(ROOT, planned.script)),
      readyUrl: `http://127.0.0.1:${readyPort}/readyz`,
      environment: {
        ...planned.environment,
        ...addresses,
        PORT: String(port),
        METRICS_PORT: String(metricsPort),
        DRAIN_DELAY: DRAIN_DELAY[planned.name === 'gateway' ? 'gateway' : 'service'],
      },
    };
  }

  async #drain(place: Place): Promise<void> {
    const { program } = place;
    place.program = undefined;
    this.#updateFront();
    const end = await program!.stop();
    this.#running.delete(program!);
    if (end !== undefined) this.#disorder.push(`${program!.name} did not end in order (${end}): see ${program!.log}`);
  }

  #updateFront(): void {
    this.#front.ready(this.#places.get('gateway')!.flatMap(({ port, program }) => (program?.ready ? [port] : [])));
  }
}
