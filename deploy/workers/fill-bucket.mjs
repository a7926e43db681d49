// Writes a build into the R2 bucket of the local runtime, as npx fragments publish-objects does for a real bucket.
// It runs in a process of its own, because the runtime's library ends its process at a signal.
//
//   node deploy/workers/fill-bucket.mjs CONFIGURATION PERSIST DIST FOLDER…
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { getPlatformProxy } from "wrangler";

/** The highest number of concurrent writes. */
const maxConcurrent = 16;

/** Files of the catalogue at the top of the build's folder. */
const rootFiles = ["index.html", "site.json"];

const [configPath, persist, dist, ...folders] = process.argv.slice(2);
// `wrangler dev --persist-to` adds a folder for the version of its layout.
const { env, dispose } = await getPlatformProxy({ configPath, persist: { path: join(persist, "v3") } });
try {
	const wanted = await listFiles();
	const waiting = [...wanted];
	const work = async () => {
		for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
			await env.OBJECTS.put(path, await readFile(join(dist, path), "utf8"));
		}
	};
	await Promise.all(Array.from({ length: maxConcurrent }, work));
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
