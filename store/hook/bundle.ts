import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A cache for files that take long to compute from this checkout. */
const cacheFolder = join(root, "node_modules/.cache/fragment-publisher");

/** The text of the bundle, with its stamp in the first line. It is cached between starts, since bundling takes 0.5 s. */
export async function readBundle(stamp: string): Promise<string> {
	const path = join(cacheFolder, `pre-receive-${stamp}.mjs`);
	const kept = await readFile(path, "utf8").catch(() => null);
	if (kept !== null) return kept;
	const text = `// ${stamp}\n${(await bundleHook()).code}`;
	await keepFile(path, text);
	return text;
}

/** Writes a file of the cache atomically. Failures are ignored: this user may not be allowed to write there. */
export async function keepFile(path: string, text: string): Promise<void> {
	const temporary = `${path}.${process.pid}.tmp`;
	try {
		await mkdir(dirname(path), { recursive: true });
		await writeFile(temporary, text);
		await rename(temporary, path);
	} catch {
		// Without the cache, the next start computes the file again.
	}
}

/** Without this check, an older Node would end with an error that does not show the reason. */
const checkNode = [
	'if (Number(process.versions.node.split(".")[0]) < 20) {',
	'	console.error("refused, because it could not be checked: Node must be 20.11 or newer, not " + process.version);',
	"	process.exit(2);",
	"}",
].join("\n");

/** Bundles the judge of a push into one file that needs only Node. `inputs` are paths relative to the project's folder. */
export async function bundleHook(): Promise<{ code: string; inputs: string[] }> {
	// Imported on demand: these imports take longer than the rest of a start.
	const { build } = await import("esbuild");
	const { compiledSchemas } = await import("../../publish/validators.ts");
	const result = await build({
		entryPoints: [join(root, "store/hook/main.ts")],
		absWorkingDir: root,
		bundle: true,
		write: false,
		metafile: true,
		format: "esm",
		platform: "node",
		target: "node20",
		mainFields: ["module", "main"],
		minify: true,
		legalComments: "none",
		banner: { js: checkNode },
		plugins: [compiledSchemas],
		logLevel: "silent",
	});
	const code = result.outputFiles[0]?.text ?? "";
	return { code, inputs: Object.keys(result.metafile.inputs) };
}
