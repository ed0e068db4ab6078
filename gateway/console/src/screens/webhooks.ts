// Screens of webhook endpoints, in a file that is loaded with the first of them.
export { Delivery } from './delivery.tsx';
export { Endpoint } from './endpoint.tsx';
export { Endpoints } from './endpoints.tsx';
export { EventTypes } from './event-types.tsx';
