import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { counted } from "../../registry/plain.ts";
import { tryJson } from "../../registry/try-json.ts";
import { readTextIfThere } from "../../store/files/if-there.ts";
import { replaceFile } from "../../store/files/replace-file.ts";
import { isAncestor } from "../../store/git/commands/commits.ts";
import { readRef } from "../../store/git/repository.ts";
import type { Log } from "../../store/log.ts";
import { repositoryPath } from "./data-dir.ts";
import type { Configuration } from "./settings.ts";

/** What a start notes in the file `LAST_START`. */
interface LastStart {
	dataDir: string;
	commit: string;
	layers: number;
	/** ISO 8601. */
	time: string;
}

type Places = Pick<Configuration, "dataDir" | "lastStart">;

async function readLastStart({ dataDir, lastStart }: Places): Promise<LastStart | null> {
	const text = lastStart && (await readTextIfThere(lastStart));
	const noted = tryJson(text || "null") as LastStart | null;
	return noted?.dataDir === resolve(dataDir) ? noted : null;
}

/**
 * A data folder on a lost or unmounted disk is empty, and a start would make a new repository there, as the first one does.
 * @throws {Error} if the folder has no layers, and was served before: `LAST_START` or `DATA_DIR/dist.served` says so
 */
export async function refuseEmptyStart(places: Places): Promise<void> {
	const repository = repositoryPath(places.dataDir);
	if ((await readRef(repository)) !== null) return;
	const noted = await readLastStart(places);
	const manifest = join(places.dataDir, "dist.served");
	const place = noted ? places.lastStart : existsSync(manifest) ? manifest : null;
	if (place === null) return;
	const what = noted
		? `says that ${counted(noted.layers, "layer")} at commit ${noted.commit.slice(0, 12)} were served from it at the start of ${noted.time}`
		: "has what was served from it";
	throw new Error(
		[
			`${repository}: has no layers, and ${place} ${what}. Nothing was made or changed. Mount its disk, or restore the backup`,
			`(docs/operate.md, "Backup and restore"). To begin without layers, remove ${place}`,
		].join(" "),
	);
}

/** Notes what a start serves in the file `LAST_START`. A file that cannot be written is only a warning. */
export async function noteStart(
	places: Places,
	{ commit, layers, now }: { commit: string; layers: number; now: Date },
	log: Log,
): Promise<void> {
	if (!places.lastStart) return;
	try {
		const before = await readLastStart(places);
		const repository = repositoryPath(places.dataDir);
		if (before && !(await isAncestor(repository, before.commit, commit)))
			log.warn(
				`${repository} does not have commit ${before.commit} of the last start at ${before.time}: it is an older copy`,
			);
		const noted: LastStart = { dataDir: resolve(places.dataDir), commit, layers, time: now.toISOString() };
		await replaceFile(places.lastStart, `${JSON.stringify(noted, null, 2)}\n`);
	} catch (error) {
		log.warn(`LAST_START: cannot be used: ${(error as Error).message}`);
	}
}
