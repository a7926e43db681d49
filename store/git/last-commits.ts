import { parseLayerPath } from "../../registry/smallkey.ts";
import type { Log } from "../log.ts";
import { readRecords } from "./commands/run.ts";

/**
 * Returns a function that finds the last commit of the served branch that changed a layer's registration: the merge, if a
 * merge did. The history is read once, and later only what is new: `git log` for one file may take seconds.
 */
export function openLastCommits(repository: string, log: Log) {
	const last = new Map<string, string>();
	/** The commit up to which the history was read. */
	let known: string | null = null;
	let reading = Promise.resolve();

	async function readTo(tip: string): Promise<void> {
		if (tip === known) return;
		const found = new Map<string, string>();
		const walk = ["--first-parent", "--diff-merges=first-parent", "--root", "--no-renames"];
		const range = known === null ? tip : `${known}..${tip}`;
		const words = ["log", ...walk, "--format=%H", "--name-only", "-z", range, "--", "layers"];
		let commit = "";
		// `<id>\0\n<path>\0<path>\0` of each commit, the newest first; only a path has a slash.
		for await (const fields of readRecords(repository, words)) {
			for (const field of fields) {
				const text = field.trim();
				if (text !== "" && !text.includes("/")) commit = text;
				const name = parseLayerPath(text);
				if (name?.kind === "registration" && !found.has(name.smallkey)) found.set(name.smallkey, commit);
			}
		}
		for (const [smallkey, id] of found) last.set(smallkey, id);
		known = tip;
	}

	/** @param tip a commit of the served branch, which is returned if the layer's own one cannot be read */
	return async (smallkey: string, tip: string): Promise<string> => {
		reading = reading.then(() => readTo(tip)).catch((error) => log.error(error));
		await reading;
		return last.get(smallkey) ?? tip;
	};
}
