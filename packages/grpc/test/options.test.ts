import { clientOptions, serverOptions, targetOf } from '../src/options.ts';

test.each([
  ['billing:50051', 'dns:///billing:50051'],
  ['10.0.0.1:50051', 'dns:///10.0.0.1:50051'],
  ['[2001:db8::1]:50051', 'dns:///[2001:db8::1]:50051'],
  ['ipv4:10.0.0.1:50051,10.0.0.2:50051', 'ipv4:10.0.0.1:50051,10.0.0.2:50051'],
  ['my-dns:50051', 'dns:///my-dns:50051'],
])('reaches %s as %s', (address, target) => {
  expect(targetOf(address)).toBe(target);
});

test.each([
  ['servers', serverOptions()],
  ['clients', clientOptions()],
])('%s take messages of up to 16 MiB, with a window of 4 MiB', (_, options) => {
  expect(options).toMatchObject({
    'grpc.max_receive_message_length': 16_777_216,
    'grpc.max_send_message_length': 16_777_216,
    'grpc-node.flow_control_window': 4_194_304,
  });
});

test('servers and clients notice a dead peer, and clients reconnect soon', () => {
  const times = (options: object): string =>
    Object.entries(options)
      .flatMap(([name, value]) => (/_ms$|_calls$/.test(name) ? [`${name.replace(/^grpc\./, '')} ${String(value)}`] : []))
      .toSorted()
      .join(', ');
  expect(times(serverOptions(60_000))).toBe(
    'keepalive_time_ms 30000, keepalive_timeout_ms 10000, max_connection_age_grace_ms 30000, max_connection_age_ms 60000',
  );
  expect(times(clientOptions())).toBe(
    'dns_min_time_between_resolutions_ms 2000, initial_reconnect_backoff_ms 100, keepalive_permit_without_calls 1, ' +
      'keepalive_time_ms 10000, keepalive_timeout_ms 5000, max_reconnect_backoff_ms 2000',
  );
});

test('neither look up a service configuration nor collect statistics of channels', () => {
  expect(clientOptions()).toMatchObject({ 'grpc.service_config_disable_resolution': 1, 'grpc.enable_channelz': 0 });
  expect(serverOptions()).toMatchObject({ 'grpc.enable_channelz': 0 });
});

test('uses all addresses of a name in turn', () => {
  expect(JSON.parse(clientOptions()['grpc.service_config']!)).toEqual({ loadBalancingConfig: [{ round_robin: {} }] });
});

test('lets connections live for ever unless a maximum age is given', () => {
  expect(serverOptions()).not.toHaveProperty(['grpc.max_connection_age_ms']);
  expect(serverOptions(60_000)['grpc.max_connection_age_ms']).toBe(60_000);
});
