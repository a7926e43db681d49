import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder, keepFile } from "../../files/cache.ts";

/**
 * The text of the bundle, its stamp in the first line; made where no earlier start has kept it: it takes half a second.
 * @param stamp that of the code
 */
export async function readBundle(stamp: string): Promise<string> {
	const path = join(cacheFolder, `pre-receive-${stamp}.mjs`);
	const kept = await readFile(path, "utf8").catch(() => null);
	if (kept !== null) return kept;
	// Loaded only where it is used: esbuild and the compiler of schemas take longer than the rest of a start.
	const { bundleHook } = await import("./bundle.ts");
	const text = `// ${stamp}\n${(await bundleHook()).code}`;
	await keepFile(path, text);
	return text;
}
