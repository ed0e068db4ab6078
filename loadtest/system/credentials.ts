import { acceptanceOf, newCallCredential, type CallCredential } from '@truckroll/grpc';

/** Credentials of the callers that this process acts as: gateway, operator and dispatcher. */
export const CALLERS: readonly CallCredential[] = (['gateway', 'operator', 'webhook-dispatcher'] as const).map(newCallCredential);
export const CALLER_CREDENTIALS = CALLERS.map(acceptanceOf).join();

export function callCredential(caller: CallCredential['caller']): string {
  return CALLERS.find((credential) => credential.caller === caller)?.text ?? '';
}
