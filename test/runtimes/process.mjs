import * as client from '@truckroll/client';
import { program } from './program.mjs';

console.log(await program(client, JSON.parse(process.env.TASK)));
