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
