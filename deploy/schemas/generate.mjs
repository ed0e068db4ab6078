// Writes the JSON schemas that check rendered manifests and deploy/compose.yaml without a cluster or a container engine: only the kinds in
// use, rejecting unknown fields. Fetches the sources as Go modules, by version and checksum. `node deploy/schemas/generate.mjs`; with names of
// files after it, writes only these kinds of operators.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const here = import.meta.dirname;

const SOURCES = {
  kubernetes: 'k8s.io/kubernetes@v1.34.4',
  gateway: 'sigs.k8s.io/gateway-api@v1.4.1',
  prometheus: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
  certManager: 'github.com/cert-manager/cert-manager@v1.21.2',
  externalSecrets: 'github.com/external-secrets/external-secrets@v1.3.2',
  keda: 'github.com/kedacore/keda/v2@v2.21.0',
  cloudNativePg: 'github.com/cloudnative-pg/cloudnative-pg@v1.27.0',
  argoCd: 'github.com/argoproj/argo-cd/v3@v3.5.7',
  compose: 'github.com/compose-spec/compose-go/v2@v2.16.2',
};
const KINDS = {
  v1_serviceaccount_v1: 'core.v1.ServiceAccount',
  v1_service_v1: 'core.v1.Service',
  v1_pod_v1: 'core.v1.Pod',
  v1_configmap_v1: 'core.v1.ConfigMap',
  apps_deployment_v1: 'apps.v1.Deployment',
  apps_statefulset_v1: 'apps.v1.StatefulSet',
  batch_job_v1: 'batch.v1.Job',
  policy_poddisruptionbudget_v1: 'policy.v1.PodDisruptionBudget',
  autoscaling_horizontalpodautoscaler_v2: 'autoscaling.v2.HorizontalPodAutoscaler',
  'networking.k8s.io_networkpolicy_v1': 'networking.v1.NetworkPolicy',
  'networking.k8s.io_ingress_v1': 'networking.v1.Ingress',
};
const CUSTOM = {
  'gateway.networking.k8s.io_httproute_v1': ['gateway', 'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml', 'v1'],
  'gateway.networking.k8s.io_gateway_v1': ['gateway', 'config/crd/standard/gateway.networking.k8s.io_gateways.yaml', 'v1'],
  'monitoring.coreos.com_servicemonitor_v1': ['prometheus', 'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml', 'v1'],
  'monitoring.coreos.com_prometheusrule_v1': ['prometheus', 'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml', 'v1'],
  'monitoring.coreos.com_podmonitor_v1': ['prometheus', 'example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml', 'v1'],
  'cert-manager.io_certificate_v1': ['certManager', 'deploy/crds/cert-manager.io_certificates.yaml', 'v1'],
  'cert-manager.io_issuer_v1': ['certManager', 'deploy/crds/cert-manager.io_issuers.yaml', 'v1'],
  'external-secrets.io_externalsecret_v1': ['externalSecrets', 'config/crds/bases/external-secrets.io_externalsecrets.yaml', 'v1'],
  'keda.sh_scaledobject_v1alpha1': ['keda', 'config/crd/bases/keda.sh_scaledobjects.yaml', 'v1alpha1'],
  'postgresql.cnpg.io_cluster_v1': ['cloudNativePg', 'config/crd/bases/postgresql.cnpg.io_clusters.yaml', 'v1'],
  'postgresql.cnpg.io_database_v1': ['cloudNativePg', 'config/crd/bases/postgresql.cnpg.io_databases.yaml', 'v1'],
  'argoproj.io_application_v1alpha1': ['argoCd', 'manifests/crds/application-crd.yaml', 'v1alpha1'],
};
const asked = process.argv.slice(2);

const folders = {};
function source(name, file) {
  folders[name] ??= JSON.parse(execFileSync('go', ['mod', 'download', '-json', SOURCES[name]], { cwd: '/', encoding: 'utf8' })).Dir;
  const path = join(folders[name], file);
  const text = file.endsWith('.json')
    ? readFileSync(path, 'utf8')
    : execFileSync('npm', ['exec', '--yes', '--package=js-yaml@4.1.0', '--', 'js-yaml', path], { encoding: 'utf8', maxBuffer: 1e8 });
  return JSON.parse(text);
}

/** The schema without descriptions and other keys that no validator reads, rejecting unknown fields. */
function closed(schema) {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  if (schema['x-kubernetes-int-or-string'] || schema.format === 'int-or-string') return { type: ['integer', 'string'] };
  const kept = Object.entries(schema).filter(([key]) => !/^(description|x-kubernetes-.*|default|format)$/.test(key) || typeof schema[key] === 'object');
  const result = Object.fromEntries(
    kept.map(([key, value]) => [
      key,
      key === 'properties' ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, closed(each)])) : closed(value),
    ]),
  );
  if (result.properties && result.additionalProperties === undefined && !schema['x-kubernetes-preserve-unknown-fields']) result.additionalProperties = false;
  return result;
}

const { definitions: all } = asked.length === 0 ? source('kubernetes', 'api/openapi-spec/swagger.json') : {};
const definitions = {};
function take(name) {
  if (name in definitions) return;
  definitions[name] = name.endsWith('.IntOrString')
    ? { type: ['integer', 'string'] }
    : name.endsWith('.Quantity')
      ? { type: ['number', 'string'] }
      : closed(all[name]);
  for (const [, next] of JSON.stringify(definitions[name]).matchAll(/"#\/definitions\/([^"]+)"/g)) take(next);
}
const write = (name, schema) => writeFileSync(join(here, `${name}.json`), `${JSON.stringify(schema)}\n`);

for (const [file, kind] of asked.length === 0 ? Object.entries(KINDS) : []) {
  take(`io.k8s.api.${kind}`);
  write(file, { $ref: `definitions.json#/definitions/io.k8s.api.${kind}` });
}
for (const [file, [name, path, version]] of Object.entries(CUSTOM)) {
  if (asked.length > 0 && !asked.includes(file)) continue;
  const { schema } = source(name, path).spec.versions.find((each) => each.name === version);
  const shape = closed(schema.openAPIV3Schema);
  shape.properties.metadata = { $ref: 'definitions.json#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' };
  write(file, shape);
}
if (asked.length > 0) process.exit();
writeFileSync(
  join(here, 'definitions.json'),
  `{"definitions":{\n${Object.keys(definitions)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${JSON.stringify(definitions[name])}`)
    .join(',\n')}\n}}\n`,
);
const compose = JSON.stringify(source('compose', 'schema/compose-spec.json'), (key, value) =>
  key === '$id' || (key === 'description' && typeof value === 'string') ? undefined : value,
);
writeFileSync(join(here, 'compose.json'), `${compose}\n`);
