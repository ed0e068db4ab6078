// The circuit breaker of one endpoint, as a value. It keeps an endpoint that is down from being asked again and again by
// every new event; when a delivery is tried again is not its business but the schedule's. What a user asks for (a probe) is
// sent whatever its state, can close it, and never makes it worse.

/** `open` until a time; then `half-open`, in which a single exchange finds out how things stand. Times in ms. */
export type Circuit =
  | { readonly state: 'closed'; readonly failures: number }
  | { readonly state: 'open'; readonly until: number; readonly coolDownMs: number }
  | { readonly state: 'half-open'; readonly coolDownMs: number };

export const CLOSED: Circuit = Object.freeze({ state: 'closed', failures: 0 });

const FAILURES = 5;
const FIRST_COOL_DOWN_MS = 5000;
const LONGEST_COOL_DOWN_MS = 60_000;

/** Any success proves the endpoint well, also one that began before the circuit opened. */
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
      // What was in flight when it opened tells nothing new.
      return circuit;
  }
}

/** What the passing of time alone makes of it. */
export function atTime(circuit: Circuit, now: number): Circuit {
  return circuit.state === 'open' && now >= circuit.until ? { state: 'half-open', coolDownMs: circuit.coolDownMs } : circuit;
}

function open(now: number, coolDownMs: number): Circuit {
  return { state: 'open', until: now + coolDownMs, coolDownMs };
}
