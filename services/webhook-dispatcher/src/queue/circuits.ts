import { CLOSED, afterFailure, afterSuccess, atTime, type Circuit } from './circuit.ts';

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
