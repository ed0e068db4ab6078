import type { ChannelOptions } from '@grpc/grpc-js';

/** A page of a list is about 100 KB; the default HTTP/2 window of 64 KB would cost a round trip in each. Bytes. */
const FLOW_CONTROL_WINDOW = 4 * 1024 * 1024;
/** Bytes. */
export const LARGEST_MESSAGE = 16 * 1024 * 1024;

/** Metadata key that carries the id of the public request through every call made for it. */
export const REQUEST_ID = 'x-request-id';

/** Milliseconds for a call that names no deadline, at either side. */
export const DEFAULT_DEADLINE_MS = 15_000;

export interface ServerLimits {
  /** Clients connect again this often, and so find replicas that came later. Milliseconds. Default: never. */
  readonly maxConnectionAgeMs?: number;
}

export function serverOptions({ maxConnectionAgeMs }: ServerLimits = {}): ChannelOptions {
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

/**
 * One connection to every address that DNS gives, used in turn; a peer that died is found by keepalive, and one that
 * came back is used again within about two seconds.
 */
export function clientOptions(): ChannelOptions {
  return {
    'grpc-node.flow_control_window': FLOW_CONTROL_WINDOW,
    'grpc.max_receive_message_length': LARGEST_MESSAGE,
    'grpc.max_send_message_length': LARGEST_MESSAGE,
    'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
    // Services find each other by DNS only; a TXT look-up for a service configuration would cost time at each start.
    'grpc.service_config_disable_resolution': 1,
    'grpc.keepalive_time_ms': 10_000,
    'grpc.keepalive_timeout_ms': 5000,
    'grpc.keepalive_permit_without_calls': 1,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 2000,
    'grpc.dns_min_time_between_resolutions_ms': 2000,
    'grpc.enable_channelz': 0,
  };
}

/** `billing:50051` means every address of that name; a target with a scheme is taken as it is. */
export function targetOf(address: string): string {
  return /^(dns|ipv4|ipv6|unix):/.test(address) ? address : `dns:///${address}`;
}
