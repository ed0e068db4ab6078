import { CLOSED, afterFailure, afterSuccess, atTime, type Circuit } from './circuit.ts';

/** The circuits of all endpoints that have failed lately; every other one is closed. */
export class Circuits {
  readonly #circuits = new Map<string, Circuit>();
  /** Endpoints whose half-open circuit is being tried. */
  readonly #probing = new Set<string>();

  /** Whether an exchange may begin. In a half-open circuit only the first may; the others wait for its end. */
  mayBegin(endpointId: string, now: number): boolean {
    if (this.#at(endpointId, now).state !== 'half-open') return true;
    if (this.#probing.has(endpointId)) return false;
    this.#probing.add(endpointId);
    return true;
  }

  /** The exchange that should have tried a half-open circuit never began: the next one may. */
  notTried(endpointId: string): void {
    this.#probing.delete(endpointId);
  }

  succeeded(endpointId: string): void {
    this.#set(endpointId, afterSuccess());
  }

  failed(endpointId: string, now: number): void {
    this.#set(endpointId, afterFailure(this.#at(endpointId, now), now));
  }

  /** In ms, 0 while the circuit is closed; undefined while it is half-open. */
  openUntil(endpointId: string, now: number): number | undefined {
    const circuit = this.#at(endpointId, now);
    return circuit.state === 'open' ? circuit.until : circuit.state === 'closed' ? 0 : undefined;
  }

  isOpen(endpointId: string, now: number): boolean {
    return this.#at(endpointId, now).state === 'open';
  }

  /** Endpoints for which nothing but probes is to be fetched: their circuits are open, or being tried. */
  excluded(now: number): string[] {
    return [...this.#circuits.keys()].filter((id) => this.#probing.has(id) || this.isOpen(id, now));
  }

  /** How many endpoints are left alone. */
  open(now: number): number {
    return [...this.#circuits.keys()].filter((id) => this.isOpen(id, now)).length;
  }

  /** When the next circuit becomes half-open; undefined where none is open any more. */
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
