import { constants } from "node:fs";
import { access, lstat, mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { codeStamp } from "../../files/code-stamp.ts";
import { readTextIfThere } from "../../files/if-there.ts";
import type { Log } from "../log.ts";
import { readBundle } from "./bundle.ts";

const script = fileURLToPath(new URL("pre-receive.sh", import.meta.url));

/** The start of a line that every hook of this project has. */
const mark = "# The hook of fragment-publisher,";

/** The bundled judge of a push, beside the hook that runs it. */
const bundleName = "fragment-publisher.mjs";

/**
 * Installs the hook that judges pushes into a repository. A correct file is not written again. A hook that is not this
 * project's is renamed to `pre-receive.local`, which runs after it. If the hook cannot be written, as on a full disk, the
 * old one stays, and the service starts all the same.
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
	// If the hook cannot be read, the warning above has the reason, and it cannot be recognized as this project's.
	const hook = await readTextIfThere(hookPath).catch(() => null);
	const isOwn = hook?.includes(mark) && (await succeeds(lstat(join(folder, bundleName))));
	if (!isOwn) return false;
	const isRunnable = await succeeds(access(hookPath, constants.X_OK));
	if (!isRunnable)
		warn(`${hookPath}: cannot be executed there, so pushes are not checked; DATA_DIR must allow it`);
	return isRunnable;
}

/** Writes the files of the hook that are missing or outdated. @throws {Error} if that fails */
async function update(folder: string, warn: Log["warn"], node: string): Promise<void> {
	await mkdir(folder, { recursive: true });
	await renameForeign(folder, warn);
	const bundlePath = join(folder, bundleName);
	const stamp = codeStamp();
	const present = await readTextIfThere(bundlePath);
	if (!present?.startsWith(`// ${stamp}\n`)) await write(bundlePath, await readBundle(stamp), 0o644);
	const hookPath = join(folder, "pre-receive");
	const hook = (await readFile(script, "utf8")).replace("@NODE@", () => quoted(node));
	if ((await readTextIfThere(hookPath)) !== hook || !(await succeeds(access(hookPath, constants.X_OK))))
		await write(hookPath, hook, 0o755);
}

/** Renames a hook that is not this project's. */
async function renameForeign(folder: string, warn: Log["warn"]): Promise<void> {
	const path = join(folder, "pre-receive");
	if (!(await succeeds(lstat(path)))) return;
	if ((await readTextIfThere(path))?.includes(mark)) return;
	let name = "pre-receive.local";
	for (let number = 2; await succeeds(lstat(join(folder, name))); number += 1)
		name = `pre-receive.local-${number}`;
	await rename(path, join(folder, name));
	const runs =
		name === "pre-receive.local" ? "runs after the service's own" : "does not run: pre-receive.local does";
	warn(`${path} is not of this project: it is called ${name} now, and ${runs}`);
}

/** Quotes a word for a shell (POSIX, "Single-Quotes"). */
function quoted(text: string): string {
	return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Writes a file atomically, and syncs it: an incomplete hook would accept every push. */
async function write(path: string, text: string, mode: number): Promise<void> {
	const temporary = `${path}.tmp`;
	const file = await open(temporary, "w", mode);
	try {
		await file.writeFile(text);
		// Regardless of the umask: pushes may run as another user than the service's.
		await file.chmod(mode);
		await file.sync();
	} finally {
		await file.close();
	}
	await rename(temporary, path);
}

async function succeeds(call: Promise<unknown>): Promise<boolean> {
	return call.then(
		() => true,
		() => false,
	);
}
