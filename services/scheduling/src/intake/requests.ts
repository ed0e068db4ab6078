import { requestCheck } from '@truckroll/contract';

export const checked = requestCheck('truckroll.scheduling.v1', { namedValues: true });
