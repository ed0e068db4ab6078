// Screens that most visits do not need, in a file that is loaded with the first of them.
export { AuditTrail } from './audit-trail.tsx';
export { EditEndpoint, NewEndpoint } from './endpoint-form.tsx';
export { NewKey } from './key-form.tsx';
export { Keys } from './keys.tsx';
export { Requests } from './requests.tsx';
