import { mkdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { placeFile } from "../../publish/place-file.ts";
import { compiledSchemas } from "../../registry/schemas/validators.ts";
import { readCommit } from "../../store/files/version.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export const bundlePath = join(root, "deploy/workers/dist/worker.js");

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
		plugins: [compiledSchemas],
		logLevel: "silent",
	});
	return result.outputFiles[0]?.contents ?? new Uint8Array(0);
}

/** Writes the worker's bundle if its bytes have changed: an engine that runs it restarts at each write. */
export async function buildWorker(): Promise<void> {
	await mkdir(dirname(bundlePath), { recursive: true });
	placeFile(dirname(bundlePath), basename(bundlePath), await bundle("scripts/worker.ts"));
}
