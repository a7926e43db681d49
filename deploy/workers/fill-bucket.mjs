// Writes a build into the local runtime's R2 bucket, as npx fragments publish-objects does into a real one.
// A process of its own, because the runtime's library ends the process that loads it at a signal.
//
//   node deploy/workers/fill-bucket.mjs CONFIGURATION PERSIST DIST FOLDER…
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { getPlatformProxy } from "wrangler";

/** Most objects that are written at once. */
const atOnce = 16;

/** Files of the catalogue that stand in the build's folder itself. */
const rootFiles = ["index.html", "site.json"];

const [configPath, persist, dist, ...folders] = process.argv.slice(2);
// `wrangler dev --persist-to` adds the version of its own layout.
const { env, dispose } = await getPlatformProxy({ configPath, persist: { path: join(persist, "v3") } });
try {
	const wanted = await listFiles();
	const waiting = [...wanted];
	const work = async () => {
		for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
			await env.OBJECTS.put(path, await readFile(join(dist, path), "utf8"));
		}
	};
	await Promise.all(Array.from({ length: atOnce }, work));
	const stale = (await listObjects(env.OBJECTS)).filter((name) => !wanted.has(name));
	for (const name of stale) await env.OBJECTS.delete(name);
} finally {
	await dispose();
}

async function listFiles() {
	const paths = new Set();
	for (const folder of [".", ...folders]) {
		const entries = await readdir(join(dist, folder), { withFileTypes: true }).catch(() => []);
		for (const { name } of entries.filter((entry) => entry.isFile())) {
			const isWanted = folder === "." ? rootFiles.includes(name) : !/\.(?:gz|br)$/.test(name);
			if (isWanted) paths.add(join(folder, name));
		}
	}
	return paths;
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
