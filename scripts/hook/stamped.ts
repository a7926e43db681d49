import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import glob from "fast-glob";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Where the last bundle is kept: it takes half a second to make. */
const cacheFolder = join(root, "node_modules/.cache/fragment-publisher");

/** The files that the bundle may be made of; a test holds that against what it is made of. */
export const bundledFiles = ["registry/*.ts", "schemas/*.ts", "api/*.ts", "api/git/*.ts"].concat([
	"api/stores/git/*.ts",
	"scripts/hook/*.ts",
	"scripts/build/*.ts",
	"package-lock.json",
]);

/** A stamp of everything that the bundle may be made of: 64 hexadecimal digits. */
export async function hookStamp(): Promise<string> {
	const paths = (await glob(bundledFiles, { cwd: root })).sort();
	const hash = createHash("sha256");
	for (const path of paths) hash.update(`${path}\n`).update(await readFile(join(root, path)));
	return hash.digest("hex");
}

/** The text of the bundle, its stamp in the first line; made where no earlier start has kept it. */
export async function readBundle(stamp: string): Promise<string> {
	const path = join(cacheFolder, `pre-receive-${stamp}.mjs`);
	const kept = await readFile(path, "utf8").catch(() => null);
	if (kept !== null) return kept;
	// Loaded only where it is used: esbuild and the compiler of schemas take longer than the rest of a start.
	const { bundleHook } = await import("./bundle.ts");
	const text = `// ${stamp}\n${(await bundleHook()).code}`;
	await keep(path, text);
	return text;
}

/** Whoever runs the service may not be allowed to write beside its code: it is then bundled again where it is needed. */
async function keep(path: string, text: string): Promise<void> {
	const temporary = `${path}.${process.pid}.tmp`;
	try {
		await mkdir(cacheFolder, { recursive: true });
		await writeFile(temporary, text);
		await rename(temporary, path);
	} catch {
		// It is only kept to be quicker.
	}
}
