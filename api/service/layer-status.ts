import pLimit from "p-limit";
import type { LayerStatus } from "../../registry/schemas/answers.ts";
import type { Lang } from "../../registry/smallkey.ts";
import { believedMs } from "../../store/git/commands/commits.ts";
import { GitTimeout, gitText } from "../../store/git/commands/run.ts";
import type { GitStore } from "../../store/git/git-store.ts";
import { StoreBusy } from "../../store/store.ts";
import type { ReadStatus } from "../context.ts";
import { Room } from "../limits.ts";
import { registrationEtag } from "../register.ts";
import type { LayerPart, Started } from "./extensions.ts";

/** Anyone may ask, and each look-up runs git. */
const maxRunning = 2;
const maxLookups = 100;

export const historyMs = 5_000;

export function createReadStatus(
	repository: string,
	store: Pick<GitStore, "served" | "lastCommit">,
	now: () => Date,
	started: readonly Pick<Started, "layer">[],
): ReadStatus {
	const pool = pLimit(maxRunning);
	const room = new Room(maxLookups);

	async function readStatus(smallkey: string) {
		const served = await store.served();
		const layer = await served.read(smallkey);
		const parts: LayerPart[] = [];
		for (const extension of started) {
			const part = await extension.layer?.(smallkey, layer);
			if (part) parts.push(part);
		}
		if (!layer && parts.length === 0) return null;
		const commit = layer && (await store.lastCommit(smallkey).catch(nullInTime));
		const registered = commit && isoTime(await believedDate(repository, commit, now().getTime()));
		const ids = layer && (await served.ids(smallkey));
		const etag = ids && registrationEtag(ids.registration);
		return (lang: Lang) => {
			const status: LayerStatus = {
				smallkey,
				registered,
				commit,
				etag,
				review: null,
				declined: null,
				harvest: { state: "none" },
				health: { state: "unknown" },
			};
			for (const { health, ...members } of parts.map((part) => part(lang)))
				Object.assign(status, members, { health: { ...status.health, ...health } });
			return status;
		};
	}

	return async (smallkey, client) => {
		const place = room.hold(client);
		if (!place.take(1)) throw new StoreBusy("busy", 2, "too many requests for the status of layers");
		return pool(() => readStatus(smallkey)).finally(place.end);
	};
}

export function nullInTime(error: unknown): null {
	if (error instanceof GitTimeout) return null;
	throw error;
}

export function isoTime(ms: number): string {
	return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

const maxParents = 100;

export async function believedDate(repository: string, commit: string, nowMs: number): Promise<number> {
	const words = ["log", "--first-parent", `--max-count=${maxParents}`, "--format=%ct", commit];
	const seconds = (await gitText(repository, words)).split("\n").map(Number);
	return seconds.reduceRight((parentMs, date) => believedMs(date * 1_000, parentMs, nowMs), 0);
}
