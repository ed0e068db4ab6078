// Screens for those who connect programs, in a file that is loaded with the first of them.
export { AuditTrail } from './audit-trail.tsx';
export { Delivery } from './delivery.tsx';
export { EditEndpoint, NewEndpoint } from './endpoint-form.tsx';
export { Endpoint } from './endpoint.tsx';
export { Endpoints } from './endpoints.tsx';
export { EventTypes } from './event-types.tsx';
export { NewKey } from './key-form.tsx';
export { Keys } from './keys.tsx';
export { Requests } from './requests.tsx';
