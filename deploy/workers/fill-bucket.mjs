// Writes a build into the R2 bucket of the local runtime, as deploy/fill-bucket.sh does for a real bucket.
// It runs in a process of its own, because the runtime's library ends its process at a signal.
//
//   node deploy/workers/fill-bucket.mjs CONFIGURATION PERSIST DIST LIST: the file LIST has the paths below DIST as JSON
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pMap from "p-map";
import { getPlatformProxy } from "wrangler";

const [configPath, persist, dist, list] = process.argv.slice(2);
// `wrangler dev --persist-to` adds a folder for the version of its layout.
const { env, dispose } = await getPlatformProxy({ configPath, persist: { path: join(persist, "v3") } });
try {
	const wanted = JSON.parse(await readFile(list, "utf8"));
	// The runtime's library cannot pass on a Buffer.
	const put = async (path) => env.OBJECTS.put(path, new Uint8Array(await readFile(join(dist, path))));
	await pMap(wanted, put, { concurrency: 16 });
	const names = new Set(wanted);
	const stale = (await listObjects(env.OBJECTS)).filter((name) => !names.has(name));
	for (const name of stale) await env.OBJECTS.delete(name);
} finally {
	await dispose();
}

async function listObjects(bucket) {
	const names = [];
	let page = await bucket.list();
	for (;;) {
		names.push(...page.objects.map(({ key }) => key));
		if (!page.truncated) return names;
		page = await bucket.list({ cursor: page.cursor });
	}
}
