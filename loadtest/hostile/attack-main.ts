// One hostile client or receiver in its own process: attack-main.ts ATTACK PORT, credentials in API_KEY and USER_TOKEN. Reports its answers to its parent.
import { Problem } from '@truckroll/local-stack';
import { ATTACKS } from './attacks.ts';

const REPORT_MS = 100;

const [name = '', port = ''] = process.argv.slice(2);
const attack = ATTACKS[name];
if (attack === undefined) throw new Problem(`there is no attack ${name}`);
let answers = 0;
await attack({ port: Number(port), key: process.env['API_KEY'] ?? '', token: process.env['USER_TOKEN'] ?? '' }, () => (answers += 1));
setInterval(() => process.send?.(answers), REPORT_MS);
process.send?.(answers);
// Exits with its parent, even if that is killed.
process.once('disconnect', () => process.exit());
