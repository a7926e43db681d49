import { mkdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import glob from "fast-glob";
import { placeFile } from "../../publish/place-file.ts";
import { compiledSchemas } from "../../registry/schemas/validators.ts";
import { readCommit } from "../../store/files/version.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Path of the worker's bundle, also in wrangler.jsonc. */
export const bundlePath = join(root, "deploy/workers/dist/worker.js");

/** Removes unused routes from octokit's table, which would otherwise be a third of the worker. */
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

/** Reads the names of the routes that the store's code uses: `rest.git.createTree`. */
async function readUsedRoutes(): Promise<Set<string>> {
	const files = await glob("store/github/**", { cwd: root, absolute: true });
	const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
	return new Set(texts.flatMap((text) => text.match(/\brest\.\w+\.\w+/g) ?? []));
}

/** Bundles a module of the worker. @param entry its path in the project */
export async function bundle(entry: string): Promise<Uint8Array> {
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

/** Writes the worker's bundle if its bytes have changed: an engine that runs it restarts at each write. */
export async function buildWorker(path = bundlePath): Promise<void> {
	await mkdir(dirname(path), { recursive: true });
	placeFile(dirname(path), basename(path), await bundle("scripts/worker.ts"));
}
