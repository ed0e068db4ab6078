import type { ChannelOptions } from '@grpc/grpc-js';
import { isGrpcTarget } from '@truckroll/process';

/** HTTP/2 window in bytes: a page of a list is about 100 KB, which would take an extra round trip with the default of 64 KB. */
const FLOW_CONTROL_WINDOW = 4 * 1024 * 1024;
/** Maximum size of a message, in bytes. */
export const LARGEST_MESSAGE = 16 * 1024 * 1024;

/** Metadata key that carries the id of the public request through every call made for it. */
export const REQUEST_ID = 'x-request-id';

/** Deadline of calls that set none, on both sides. Milliseconds. */
export const DEFAULT_DEADLINE_MS = 15_000;

export function serverOptions(maxConnectionAgeMs?: number): ChannelOptions {
  return {
    'grpc-node.flow_control_window': FLOW_CONTROL_WINDOW,
    'grpc.max_receive_message_length': LARGEST_MESSAGE,
    'grpc.max_send_message_length': LARGEST_MESSAGE,
    ...(maxConnectionAgeMs === undefined ? {} : { 'grpc.max_connection_age_ms': maxConnectionAgeMs }),
    'grpc.max_connection_age_grace_ms': 30_000,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_timeout_ms': 10_000,
    'grpc.enable_channelz': 0,
  };
}

/** One connection per address from DNS, used in turn. Keepalive detects a dead peer; a peer that returns is used again within about two seconds. */
export function clientOptions(): ChannelOptions {
  return {
    'grpc-node.flow_control_window': FLOW_CONTROL_WINDOW,
    'grpc.max_receive_message_length': LARGEST_MESSAGE,
    'grpc.max_send_message_length': LARGEST_MESSAGE,
    'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
    // Services find each other by DNS only; a TXT lookup for a service configuration would delay each start.
    'grpc.service_config_disable_resolution': 1,
    'grpc.keepalive_time_ms': 10_000,
    'grpc.keepalive_timeout_ms': 5000,
    'grpc.keepalive_permit_without_calls': 1,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 2000,
    'grpc.dns_min_time_between_resolutions_ms': 2000,
    'grpc.enable_channelz': 0,
    // Otherwise http_proxy, https_proxy and grpc_proxy of the environment would apply to calls between components.
    'grpc.enable_http_proxy': 0,
  };
}

/** `billing:50051` means every address of that name; a target with a scheme, such as `ipv4:` with a list, is used unchanged. */
export function targetOf(address: string): string {
  return isGrpcTarget(address) ? address : `dns:///${address}`;
}
