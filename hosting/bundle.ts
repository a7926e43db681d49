import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build, type Plugin } from "esbuild";
import { filesBelow } from "../files/below.ts";
import { readIfThere } from "../files/if-there.ts";
import { readCommit } from "../files/version.ts";
import { compiledSchemas } from "../publish/validators.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Path of the worker's bundle, also in wrangler.jsonc. */
export const bundlePath = join(root, "deploy/workers/dist/worker.js");

/** A part of the worker that is measured. */
export interface WorkerPart {
	name: string;
	/** Path of its module in the project. */
	entry: string;
	/** Most bytes of its bundle after gzip. */
	limit: number;
}

/** The measured parts; the last one is the worker. */
export const workerParts: readonly WorkerPart[] = [
	{ name: "the read path alone", entry: "api/worker/reads.ts", limit: 5_000 },
	{ name: "the whole worker", entry: "api/worker/worker.ts", limit: 84_000 },
];

/** The sizes of a bundled part of the worker, in bytes. */
export interface BundleSize {
	name: string;
	raw: number;
	gzip: number;
	limit: number;
}

/** Removes the routes that the store does not use from octokit's table, which is a third of the worker otherwise. */
const usedRoutes: Plugin = {
	name: "used-routes",
	setup(setup) {
		setup.onLoad({ filter: /plugin-rest-endpoint-methods\/.*\/endpoints\.js$/ }, async ({ path }) => {
			const { default: table } = (await import(pathToFileURL(path).href)) as { default: Routes };
			const names = await readUsedRoutes();
			const used: Routes = {};
			for (const [scope, routes] of Object.entries(table)) {
				const kept = Object.entries(routes).filter(([name]) => names.has(`rest.${scope}.${name}`));
				if (kept.length > 0) used[scope] = Object.fromEntries(kept);
			}
			return { contents: `export default ${JSON.stringify(used)};`, loader: "js" };
		});
	},
};

/** Scope → name → route, as in octokit's table. */
type Routes = Record<string, Record<string, unknown>>;

/** The routes that the store's code names: `rest.git.createTree`. */
async function readUsedRoutes(): Promise<Set<string>> {
	const folder = join(root, "store/github");
	const texts = await Promise.all(filesBelow(folder).map((name) => readFile(join(folder, name), "utf8")));
	return new Set(texts.flatMap((text) => text.match(/\brest\.\w+\.\w+/g) ?? []));
}

async function bundle(entry: string): Promise<Uint8Array> {
	const result = await build({
		entryPoints: [join(root, entry)],
		bundle: true,
		write: false,
		format: "esm",
		target: "es2022",
		conditions: ["workerd", "worker", "browser"],
		mainFields: ["module", "main"],
		minify: true,
		define: { BUNDLED_COMMIT: JSON.stringify(readCommit()) },
		legalComments: "none",
		plugins: [compiledSchemas, usedRoutes],
		logLevel: "silent",
	});
	return result.outputFiles[0]?.contents ?? new Uint8Array(0);
}

/**
 * Writes the worker's bundle, and nothing where a part is over its limit.
 * @throws {Error} that names each part over its limit
 */
export async function buildWorker(path = bundlePath, parts = workerParts): Promise<BundleSize[]> {
	const bundles = await Promise.all(parts.map(({ entry }) => bundle(entry)));
	const sizes = parts.map(({ name, limit }, index) => {
		const bytes = bundles[index] as Uint8Array;
		return { name, limit, raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length };
	});
	const tooLarge = sizes.filter(({ gzip, limit }) => gzip > limit);
	if (tooLarge.length > 0) throw new Error(tooLarge.map((size) => `${sizeLine(size)}: too large`).join("\n"));
	await replaceFile(path, bundles.at(-1) as Uint8Array);
	return sizes;
}

/** Replaces a file atomically, and only by other bytes: an engine that runs it restarts at each write. */
async function replaceFile(path: string, bytes: Uint8Array): Promise<void> {
	const present = await readIfThere(path);
	if (present?.equals(bytes)) return;
	await mkdir(dirname(path), { recursive: true });
	const temporary = `${path}.${process.pid}.tmp`;
	await writeFile(temporary, bytes);
	await rename(temporary, path);
}

/** `the whole worker: 98,765 bytes, 32,100 after gzip (limit 60,000)` */
export function sizeLine({ name, raw, gzip, limit }: BundleSize): string {
	const [a, b, c] = [raw, gzip, limit].map((bytes) => bytes.toLocaleString("en"));
	return `${name}: ${a} bytes, ${b} after gzip (limit ${c})`;
}
