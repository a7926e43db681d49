import { layerPath } from "../../registry/smallkey.ts";
import { type Meta, requestMemory, StoreBusy } from "../store.ts";
import { GithubBusy } from "./client.ts";
import { type Head, type PastCommit, readHistory, recentCommits } from "./head.ts";
import type { Github } from "./routes.ts";

/** Whether a commit carries the trailer of a change's signature. */
export function carriesRequest(commit: PastCommit, meta: Meta): boolean {
	return meta.request !== null && commit.message.split("\n").includes(`Request: ${meta.request}`);
}

/** Seconds after which it is worth trying again where the history cannot be read. */
const retryAfterSeconds = 15;

/** Signatures that were used. */
export interface Replays {
	/** Keeps the signature of a change that was made. */
	remember(meta: Meta): void;
	/**
	 * Whether a change's signature was used in the last five minutes, here or by another process.
	 * @throws {StoreBusy} where that is not known
	 */
	wasUsed(github: Github, head: Head, meta: Meta): Promise<boolean>;
}

/** The repository's history decides. The memory of this process saves reading it, and is used where the history lags. */
export function createReplays(now: () => Date): Replays {
	const used = new Map<string, number>();

	function forgetOld(): void {
		const oldest = now().getTime() - requestMemory;
		for (const [request, time] of used) if (time < oldest) used.delete(request);
	}

	return {
		remember(meta) {
			forgetOld();
			if (meta.request !== null) used.set(meta.request, now().getTime());
		},
		async wasUsed(github, head, meta) {
			if (meta.request === null) return false;
			forgetOld();
			if (used.has(meta.request)) return true;
			const from = now().getTime() - requestMemory;
			const lately = head.recent.filter(({ time }) => time >= from);
			if (lately.some((commit) => carriesRequest(commit, meta))) return true;
			const reachesBack = lately.length < recentCommits;
			if (reachesBack || meta.smallkey === null) return false;
			const history = await readHistory(github, head, layerPath(meta.smallkey), from).catch(refuse);
			return history.some((commit) => carriesRequest(commit, meta));
		},
	};
}

/** A history that cannot be read proves nothing: the write has to come again. */
function refuse(error: unknown): never {
	if (error instanceof StoreBusy) throw error;
	const reason = `the replay guard: ${error instanceof Error ? error.message : String(error)}`;
	throw new GithubBusy("the layer's history cannot be read", retryAfterSeconds, reason);
}
