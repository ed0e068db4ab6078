// The circuit breaker of one endpoint, as an immutable value. It stops new events from being sent to an endpoint that is down.
// Deliveries that a user requests (probes) are sent in any state; their success closes the circuit, their failure does not change it.

/** `open` until a time, then `half-open`, in which a single exchange tests the endpoint. Times in ms. */
export type Circuit =
  | { readonly state: 'closed'; readonly failures: number }
  | { readonly state: 'open'; readonly until: number; readonly coolDownMs: number }
  | { readonly state: 'half-open'; readonly coolDownMs: number };

export const CLOSED: Circuit = Object.freeze({ state: 'closed', failures: 0 });

const FAILURES = 5;
const FIRST_COOL_DOWN_MS = 5000;
const LONGEST_COOL_DOWN_MS = 60_000;

/** Any success closes the circuit, even of an exchange that began before it opened. */
export function afterSuccess(): Circuit {
  return CLOSED;
}

export function afterFailure(circuit: Circuit, now: number): Circuit {
  switch (circuit.state) {
    case 'closed': {
      const failures = circuit.failures + 1;
      return failures < FAILURES ? { state: 'closed', failures } : open(now, FIRST_COOL_DOWN_MS);
    }
    case 'half-open':
      return open(now, Math.min(circuit.coolDownMs * 2, LONGEST_COOL_DOWN_MS));
    case 'open':
      // An exchange that was in flight when the circuit opened is no new evidence.
      return circuit;
  }
}

/** The circuit's state at `now`: an open circuit becomes half-open when its time is over. */
export function atTime(circuit: Circuit, now: number): Circuit {
  return circuit.state === 'open' && now >= circuit.until ? { state: 'half-open', coolDownMs: circuit.coolDownMs } : circuit;
}

function open(now: number, coolDownMs: number): Circuit {
  return { state: 'open', until: now + coolDownMs, coolDownMs };
}

/** Circuits of endpoints that have failed since their last success. All others are closed. */
export class Circuits {
  readonly #circuits = new Map<string, Circuit>();
  /** Endpoints whose half-open circuit is being tested by an exchange. */
  readonly #probing = new Set<string>();

  /** Whether an exchange may begin. If the circuit is half-open, only the first may, and the others wait for its result. */
  mayBegin(endpointId: string, now: number): boolean {
    if (this.#at(endpointId, now).state !== 'half-open') return true;
    if (this.#probing.has(endpointId)) return false;
    this.#probing.add(endpointId);
    return true;
  }

  /** Call if the exchange that should have tested a half-open circuit did not take place, so that the next one may. */
  notTried(endpointId: string): void {
    this.#probing.delete(endpointId);
  }

  /** Call after a success, or when the endpoint's owner has enabled it or given it another URL. */
  close(endpointId: string): void {
    this.#set(endpointId, afterSuccess());
  }

  failed(endpointId: string, now: number): void {
    this.#set(endpointId, afterFailure(this.#at(endpointId, now), now));
  }

  /** Time until which the circuit is open, in ms since 1970; 0 if it is closed, undefined if it is half-open. */
  openUntil(endpointId: string, now: number): number | undefined {
    const circuit = this.#at(endpointId, now);
    return circuit.state === 'open' ? circuit.until : circuit.state === 'closed' ? 0 : undefined;
  }

  isOpen(endpointId: string, now: number): boolean {
    return this.#at(endpointId, now).state === 'open';
  }

  /** Endpoints for which only probes may be leased, because their circuit is open or being tested. */
  excluded(now: number): string[] {
    return [...this.#circuits.keys()].filter((id) => this.#probing.has(id) || this.isOpen(id, now));
  }

  open(now: number): number {
    return [...this.#circuits.keys()].filter((id) => this.isOpen(id, now)).length;
  }

  /** Time at which the next circuit becomes half-open, in ms since 1970. Undefined if none is open. */
  nextAt(now: number): number | undefined {
    const times = [...this.#circuits.values()].flatMap((circuit) => (circuit.state === 'open' && circuit.until > now ? [circuit.until] : []));
    return times.length === 0 ? undefined : Math.min(...times);
  }

  #at(endpointId: string, now: number): Circuit {
    return atTime(this.#circuits.get(endpointId) ?? CLOSED, now);
  }

  #set(endpointId: string, circuit: Circuit): void {
    this.#probing.delete(endpointId);
    if (circuit.state === 'closed' && circuit.failures === 0) this.#circuits.delete(endpointId);
    else this.#circuits.set(endpointId, circuit);
  }
}
