import { layerPath, parseLayerPath } from "../../registry/smallkey.ts";
import type { Log } from "../store.ts";
import { gitText, readRecords } from "./commands/run.ts";

/** For a merge, its own changes are those against its first parent. */
const walk = ["log", "--first-parent", "--diff-merges=first-parent", "--no-renames", "--format=%H"];

/** Longest time of one look, in milliseconds: a history may be long. */
const limitMs = 5_000;

/** The walk of the whole history has a lower priority than answers. */
const niceness = 5;

/**
 * Finds the last commits of layers: the merge, if a merge changed it. Publishers repeat all their registrations, and so
 * the whole history is read once, in the background, after the first look.
 */
export function openLastCommits(repository: string, log: Log) {
	const last = new Map<string, string>();
	/** The layers that changed since the history is being read; null: it is not. */
	let changed: Set<string> | null = null;
	let hasBegun = false;

	/** Notes that commits have changed paths. @param commit the last commit of all of them; null: git is asked again */
	function note(changes: readonly { path: string }[], commit: string | null): void {
		for (const { path } of changes) {
			const name = parseLayerPath(path);
			if (name?.kind !== "registration") continue;
			changed?.add(name.smallkey);
			if (commit) last.set(name.smallkey, commit);
			else last.delete(name.smallkey);
		}
	}

	async function readAll(tip: string): Promise<void> {
		changed = new Set();
		let commit = "";
		const words = [...walk, "--root", "--name-only", "-z", tip, "--", "layers"];
		// `<id>\0\n<path>\0<path>\0` of each commit, the newest first; only a path has a slash.
		for await (const fields of readRecords(repository, words, "\0", { niceness })) {
			for (const text of fields.map((field) => field.trim())) {
				if (text !== "" && !text.includes("/")) commit = text;
				const name = parseLayerPath(text);
				if (name?.kind !== "registration" || changed.has(name.smallkey)) continue;
				if (!last.has(name.smallkey)) last.set(name.smallkey, commit);
			}
		}
		changed = null;
	}

	/**
	 * Finds the last commit of the served branch that changed a layer's registration; null if none has.
	 * @param tip a commit of the served branch
	 * @throws {GitFailure}
	 */
	async function find(smallkey: string, tip: string): Promise<string | null> {
		const kept = last.get(smallkey);
		if (kept) return kept;
		// Without `--no-patch` git prints the patch of a merge.
		const words = [...walk, "-1", "--no-patch", tip, "--", layerPath(smallkey)];
		const commit = await gitText(repository, words, { limitMs });
		if (!hasBegun) readAll(tip).catch(log.error);
		hasBegun = true;
		return commit || null;
	}

	return { find, note };
}
