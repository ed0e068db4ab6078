export { createGateway, type GatewayOptions } from './app.ts';
export { gatewayConfig, type GatewayConfig } from './config.ts';
