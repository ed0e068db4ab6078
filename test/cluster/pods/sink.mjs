// Stores posted requests by path, in order of arrival; GET of a path returns them. Tests check the signatures.
import { createServer } from 'node:http';

const arrived = new Map();
createServer((request, response) => {
  const { method, url, headers } = request;
  if (method === 'GET') return void response.end(JSON.stringify(arrived.get(url) ?? []));
  let body = '';
  request
    .on('data', (chunk) => (body += chunk))
    .on('end', () => {
      if (!arrived.has(url)) arrived.set(url, []);
      arrived.get(url).push({ headers, body });
      response.writeHead(204).end();
    });
}).listen(8080);
process.on('SIGTERM', () => process.exit(0));
