// Writes the files of proto/ that follow from others, because protobuf cannot extend a message. With --check, writes nothing and exits with
// 1 if a file is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const proto = join(import.meta.dirname, '..', 'proto');
const SOURCE = 'truckroll/scheduling/v1/service_requests.proto';
const DERIVED = 'truckroll/events/v1/changed_service_request.proto';
/** This number has been on the wire since the first release; ServiceRequest reserves it. */
const PREVIOUS_STATUS = 22;

/** Updates derived files, unless it only checks. Returns the paths below proto/ that were out of date. */
export function deriveProtos({ check = false } = {}) {
  const path = join(proto, DERIVED);
  const wanted = changedServiceRequest(readFileSync(join(proto, SOURCE), 'utf8'));
  let found = '';
  try {
    found = readFileSync(path, 'utf8');
  } catch {
    // The file does not exist yet.
  }
  if (found === wanted) return [];
  if (!check) writeFileSync(path, wanted);
  return [DERIVED];
}

/** The source of a message with the fields of ServiceRequest and `previous_status`. */
export function changedServiceRequest(source) {
  const imports = source.match(/^import .*;$/gm);
  const [, fields] = /^message ServiceRequest \{\n([^]*?)^\}$/m.exec(source);
  if (!fields.includes(`reserved ${PREVIOUS_STATUS};`))
    throw new Error(`ServiceRequest must reserve ${PREVIOUS_STATUS}, which is previous_status in ${DERIVED}`);
  const qualified = fields
    .replace(/^(?: *\/\/.*\n)* *reserved .*;\n/gm, '')
    // Qualify the names of the source's own package.
    .replace(/^( *(?:optional |repeated )?)([A-Z]\w* )/gm, '$1truckroll.scheduling.v1.$2');
  return `// Derived from ${SOURCE} by scripts/derive-protos.mjs; change it there.
syntax = "proto3";

package truckroll.events.v1;

${[...imports, `import "${SOURCE}";`].toSorted().join('\n')}

// A service request whose status has just changed: all fields of ServiceRequest, and the previous status.
message ChangedServiceRequest {
${qualified}  // The status before the change.
  truckroll.scheduling.v1.ServiceRequestStatus previous_status = ${PREVIOUS_STATUS};
}
`;
}

if (process.argv[1] === import.meta.filename) {
  const check = process.argv.includes('--check');
  const wrong = deriveProtos({ check });
  for (const path of wrong) console.error(check ? `proto/${path} is not what it is derived from: run npm run generate and commit it.` : `wrote proto/${path}`);
  if (check && wrong.length > 0) process.exitCode = 1;
}
