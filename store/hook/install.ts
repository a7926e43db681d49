import { constants, existsSync } from "node:fs";
import { access, lstat, mkdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readTextIfThere, replaceFile } from "../files/files.ts";
import { codeStamp } from "../files/version.ts";
import type { Log } from "../store.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const script = join(root, "store/hook/pre-receive.sh");

const mark = "# The hook of fragment-publisher,";

const bundleName = "fragment-publisher.mjs";

/** The bundle that the package and the image bring; a checkout has none. */
export const builtBundle = join(root, "store/hook/dist", bundleName);

/**
 * Installs the hook that judges pushes. Another one is renamed to `pre-receive.local`, which runs after it. If the hook cannot
 * be written, as on a full disk, the old one stays, and the service starts all the same.
 * @param node the absolute path of the Node that runs the hook
 * @returns whether the hook can run there: git silently skips a hook that is not executable
 */
export async function installHook(
	repository: string,
	warn: Log["warn"],
	node = process.execPath,
): Promise<boolean> {
	const folder = join(repository, "hooks");
	await update(folder, warn, node).catch((error: Error) => {
		warn(
			`${folder}: the hook that judges pushes cannot be written: ${error.message}. The next start tries again`,
		);
	});
	const hookPath = join(folder, "pre-receive");
	// The warning above has the reason.
	const hook = await readTextIfThere(hookPath).catch(() => null);
	if (!hook?.includes(mark) || !existsSync(join(folder, bundleName))) return false;
	if (await isExecutable(hookPath)) return true;
	warn(`${hookPath}: cannot be executed there, so pushes are not checked; DATA_DIR must allow it`);
	return false;
}

/** Files are written whole: an incomplete hook would accept every push. */
async function update(folder: string, warn: Log["warn"], node: string): Promise<void> {
	await mkdir(folder, { recursive: true });
	await renameForeign(folder, warn);
	const bundlePath = join(folder, bundleName);
	const isCurrent = (text: string | null): text is string => text?.startsWith(stampLine()) ?? false;
	if (!isCurrent(await readTextIfThere(bundlePath))) {
		const built = await readTextIfThere(builtBundle);
		await replaceFile(bundlePath, isCurrent(built) ? built : await bundleHook(), 0o644);
	}
	const hookPath = join(folder, "pre-receive");
	const hook = (await readFile(script, "utf8")).replace("@NODE@", () => quoted(node));
	if ((await readTextIfThere(hookPath)) !== hook || !(await isExecutable(hookPath)))
		await replaceFile(hookPath, hook, 0o755);
}

async function renameForeign(folder: string, warn: Log["warn"]): Promise<void> {
	const path = join(folder, "pre-receive");
	if (!(await isThere(path)) || (await readTextIfThere(path))?.includes(mark)) return;
	const local = "pre-receive.local";
	let name = local;
	for (let number = 2; await isThere(join(folder, name)); number += 1) name = `${local}-${number}`;
	await rename(path, join(folder, name));
	const runs = name === local ? "runs after the service's own" : `does not run: ${local} does`;
	warn(`${path} is not of this project: it is called ${name} now, and ${runs}`);
}

function quoted(text: string): string {
	return `'${text.replaceAll("'", "'\\''")}'`;
}

function isExecutable(path: string): Promise<boolean> {
	return succeeds(access(path, constants.X_OK));
}

/** A link is there, even if its target is not. */
function isThere(path: string): Promise<boolean> {
	return succeeds(lstat(path));
}

function succeeds(call: Promise<unknown>): Promise<boolean> {
	return call.then(
		() => true,
		() => false,
	);
}

/** An older Node would end with an error that does not show the reason. */
const checkNode = [
	'if (Number(process.versions.node.split(".")[0]) < 20) {',
	'	console.error("refused, because it could not be checked: Node must be 20.11 or newer, not " + process.version);',
	"	process.exit(2);",
	"}",
].join("\n");

function stampLine(): string {
	return `// ${codeStamp()}\n`;
}

export async function bundleHook(): Promise<string> {
	// Imported on demand: these imports take longer than the rest of a start.
	const { build } = await import("esbuild");
	const { compiledSchemas } = await import("../../registry/schemas/validators.ts");
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
		plugins: [compiledSchemas],
		logLevel: "silent",
	});
	return stampLine() + result.outputFiles[0]?.text;
}
