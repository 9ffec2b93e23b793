// Vercel's own client against a local server. Prints what it got, a line each.
import { createRequire } from 'node:module';
const require = createRequire(process.env.CLIENT_FOLDER + '/');
const { Sandbox } = require('@vercel/sandbox');

const fetch = (url, options) => {
  const { dispatcher, ...rest } = options;
  return globalThis.fetch(String(url).replace('https://vercel.com', process.env.SERVER_URL), rest);
};
const access = { token: 'key-1', teamId: 'team_1', projectId: 'prj_1', fetch };

const list = await Sandbox.list(access);
const theirs = await Sandbox.get({ ...access, name: (list.sandboxes ?? list.json.sandboxes)[0].name });
console.log('found', (await (await theirs.runCommand('sh', ['-c', 'cat ~/from-hermes'])).stdout()).trim());

const box = await Sandbox.create({ ...access, runtime: 'node24', timeout: 60000, persistent: true });
let r = await box.runCommand('sh', ['-c', 'echo out; echo err >&2; exit 7']);
console.log('exec', r.exitCode, JSON.stringify(await r.stdout()), JSON.stringify(await r.stderr()));
r = await box.runCommand({ cmd: 'sh', args: ['-c', "head -c 300000 /dev/zero | tr '\\0' x"] });
console.log('long', (await r.stdout()).length);
const begun = await box.runCommand({ cmd: 'sh', args: ['-c', 'echo one; echo two'], detached: true });
r = await begun.wait();
let parts = '';
for await (const line of begun.logs()) parts += line.data;
console.log('detached', r.exitCode, JSON.stringify(parts));
const long = await box.runCommand({ cmd: 'sleep', args: ['300'], detached: true });
await long.kill('SIGKILL');
console.log('kill', (await long.wait()).exitCode);
await box.writeFiles([{ path: '/vercel/sandbox/a.txt', content: Buffer.from([97, 0, 255, 98]) }]);
const chunks = [];
for await (const chunk of await box.readFile({ path: 'a.txt' })) chunks.push(chunk);
console.log('files', Buffer.concat(chunks).toString('hex'));
await box.stop();
r = await box.runCommand('sh', ['-c', 'wc -c <a.txt']);
console.log('kept', (await r.stdout()).trim());
await box.delete();
console.log('left', (await Sandbox.list(access).then((l) => l.sandboxes ?? l.json.sandboxes)).length);
process.exit(0);
