// Prints each request as a line of JSON; its signature is checked by whoever reads the log.
import { createServer } from 'node:http';

createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => (body += chunk)).on('end', () => {
    console.log(JSON.stringify({ path: request.url, headers: request.headers, body }));
    response.writeHead(204).end();
  });
}).listen(8080);
process.on('SIGTERM', () => process.exit(0));
