/** Redis channel on which integrations publishes revocations to the gateways (proto/truckroll/integrations/v1/identity.proto). */
export const INVALIDATION_CHANNEL = 'truckroll:invalidations';

/** Redis key of the current epoch. Gateways ignore identities that were cached in Redis under another epoch. */
export const IDENTITY_EPOCH_KEY = 'truckroll:identity:epoch';
