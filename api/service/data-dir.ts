import { existsSync } from "node:fs";
// Tests replace `access` of the module.
import files, { constants, mkdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { collectFolder } from "../../publish/collect.ts";
import { counted } from "../../registry/untrusted.ts";
import { findForeignRoot, readTextIfThere, replaceFile } from "../../store/files/files.ts";
import { readRef } from "../../store/git/repository.ts";
import type { Edit, Log } from "../../store/store.ts";
import { lockFolder } from "./lock.ts";
import type { Configuration } from "./settings.ts";

/** An npm package does not have it. */
const checkoutLayers = "layers";

const readme = new URL("repository.md", import.meta.url);

export async function seed({ isTrial }: Pick<Configuration, "isTrial">): Promise<Edit[]> {
	const examples = isTrial && existsSync(checkoutLayers) ? collectFolder(checkoutLayers) : [];
	const layers = examples.filter(({ kind }) => kind === "file");
	const edits = layers.map(({ path, bytes }) => ({ path, text: Buffer.from(bytes).toString("utf8") }));
	return [{ path: "README.md", text: await readFile(readme, "utf8") }, ...edits];
}

/** @throws {Error} if this user cannot or should not write there */
export async function makeDataDir(folder: string): Promise<void> {
	const opened = mkdir(folder, { recursive: true });
	await opened
		.then(() => files.access(folder, constants.R_OK | constants.X_OK))
		.catch((cause) => {
			throw new Error(`DATA_DIR: must be a folder that this user may write, and ${folder} is not`, { cause });
		});
	const foreign = await findForeignRoot(folder, "node scripts/fragments.cjs …");
	if (foreign !== null) throw new Error(foreign);
}

export async function openDataDir(
	configuration: Configuration,
	lockOptions: Parameters<typeof lockFolder>[1],
): ReturnType<typeof lockFolder> {
	const { dataDir, github } = configuration;
	await makeDataDir(dataDir);
	// Before the lock: a restore needs an empty folder.
	if (!github) await refuseEmptyStart(configuration);
	return lockFolder(dataDir, lockOptions);
}

export function repositoryPath(dataDir: string): string {
	return join(dataDir, "repository.git");
}

type Places = Pick<Configuration, "dataDir" | "lastStart">;

/**
 * The data folder of an unmounted disk is empty.
 * @throws {Error} if the folder has no layers, but `LAST_START` or `DATA_DIR/dist.served` says that it had
 */
async function refuseEmptyStart({ dataDir, lastStart }: Places): Promise<void> {
	const repository = repositoryPath(dataDir);
	if ((await readRef(repository)) !== null) return;
	const noted = (lastStart && (await readTextIfThere(lastStart))) || "";
	// Also of another folder: `DATA_DIR` may be misspelt.
	const isNoted = noted !== "" && !noted.includes(": 0 layers at ");
	const manifest = join(dataDir, "dist.served");
	if (!isNoted && !existsSync(manifest)) return;
	const place = isNoted ? lastStart : manifest;
	const what = isNoted
		? `says what the last start served, before later changes: ${noted.trim()}`
		: "has what was served from it";
	throw new Error(
		[
			`${repository}: has no layers, and ${place} ${what}. Nothing was made or changed. Mount its disk, or restore the backup`,
			`(docs/operate.md, "Backup and restore"). To begin without layers, remove ${place}`,
		].join(" "),
	);
}

export async function noteStart(
	{ dataDir, lastStart }: Places,
	{ commit, layers, now }: { commit: string; layers: number; now: Date },
	log: Log,
): Promise<void> {
	if (!lastStart) return;
	const line = `${resolve(dataDir)}: ${counted(layers, "layer")} at commit ${commit}, ${now.toISOString()}\n`;
	const warn = (error: Error) => log.warn(`LAST_START: cannot be written: ${error.message}`);
	await replaceFile(lastStart, line).catch(warn);
}
