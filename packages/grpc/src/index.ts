export type { CallContext } from './call-context.ts';
export type { CallerCheck } from './caller-check.ts';
export {
  acceptanceOf,
  newCallCredential,
  newOperatorCredential,
  parseCallCredential,
  parseCallerCredentials,
  type CallCredential,
} from './caller-credentials.ts';
export { cellSetting, isCellName, otherCellsSetting } from './cells.ts';
export { openChannel, type Channel } from './client.ts';
export type { Callers, Definition, Handlers, ResponseMetadata } from './handlers.ts';
export { LARGEST_MESSAGE } from './options.ts';
export { checkServing } from './health-check.ts';
export { createGrpcServer, type GrpcServer, type RecordOperatorCall } from './server.ts';
export { createService, type ServiceKit } from './service.ts';
export { callCredentialSetting, callerSettings, grpcSettings, optionalCallCredentialSetting, type CallerConfig, type GrpcConfig } from './settings.ts';
export { checkTls, tlsSettings, type TlsConfig } from './tls.ts';
export { giveBack } from './driver/frame-decoder.ts';
export { FRAME_BYTES, messageBehindRoom } from './driver/framing.ts';
