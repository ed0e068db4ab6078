import { lockState } from '../../src/state-lock.ts';

lockState(process.argv[2]!, 'npm start');
console.log('locked');
setInterval(() => undefined, 1000);
