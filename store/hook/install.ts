import { constants } from "node:fs";
import { access, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readTextIfThere, replaceFile } from "../files/files.ts";
import { codeStamp } from "../files/version.ts";
import type { Log } from "../store.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const script = join(root, "store/hook/pre-receive.sh");

const mark = "# The hook of fragment-publisher,";

const bundleName = "fragment-publisher.mjs";

/**
 * A hook that cannot be written, as on a full disk, stays as it was.
 * @param node absolute path of the Node that runs it
 * @throws {Error} if there is another hook, or none that is executable: git would silently skip it
 */
export async function installHook(repository: string, warn: Log["warn"], node = process.execPath) {
	const folder = join(repository, "hooks");
	const hookPath = join(folder, "pre-receive");
	const hook = await readTextIfThere(hookPath);
	if (hook && !hook.includes(mark))
		throw new Error(`${hookPath}: must be called pre-receive.local, to run after the service's own`);
	await update(folder, node).catch(({ message }: Error) => {
		warn(`${folder}: the hook that judges pushes cannot be written: ${message}. The next start tries again`);
	});
	if (await isExecutable(hookPath)) return;
	throw new Error(`${hookPath}: cannot be executed there, so pushes are not checked; DATA_DIR must allow it`);
}

/** Files are written whole: an incomplete hook would accept every push. */
async function update(folder: string, node: string): Promise<void> {
	await mkdir(folder, { recursive: true });
	const bundlePath = join(folder, bundleName);
	const stamp = `// ${codeStamp()}\n`;
	if (!(await readTextIfThere(bundlePath))?.startsWith(stamp))
		await replaceFile(bundlePath, stamp + (await bundleHook()), 0o644);
	const hookPath = join(folder, "pre-receive");
	const hook = (await readFile(script, "utf8")).replace("@NODE@", () => quote(node));
	if ((await readTextIfThere(hookPath)) !== hook || !(await isExecutable(hookPath)))
		await replaceFile(hookPath, hook, 0o755);
}

function quote(text: string): string {
	return `'${text.replaceAll("'", "'\\''")}'`;
}

async function isExecutable(path: string): Promise<boolean> {
	return (await access(path, constants.X_OK).catch(() => false)) !== false;
}

/** An older Node would end with an error that does not show the reason. */
const checkNode = [
	'if (Number(process.versions.node.split(".")[0]) < 20) {',
	'	console.error("refused, because it could not be checked: Node must be 20.11 or newer, not " + process.version);',
	"	process.exit(2);",
	"}",
].join("\n");

async function bundleHook(): Promise<string> {
	// On demand: it takes longer than the rest of a start.
	const { build } = await import("esbuild");
	const result = await build({
		entryPoints: [join(root, "store/hook/main.ts")],
		absWorkingDir: root,
		bundle: true,
		write: false,
		format: "esm",
		platform: "node",
		target: "node20",
		mainFields: ["module", "main"],
		minify: true,
		legalComments: "none",
		banner: { js: checkNode },
		logLevel: "silent",
	});
	return result.outputFiles[0]?.text ?? "";
}
