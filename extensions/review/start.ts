import type { RunningService, Started } from "../../api/service/extensions.ts";
import { gitInTime, historyMs, isoTime } from "../../api/service/layer-status.ts";
import type { LayerStatus } from "../../registry/schemas/answers.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { gitText } from "../../store/git/commands/run.ts";
import { servedRef } from "../harvest/repository.ts";
import { readReviews } from "./waiting.ts";

/** For the status of a layer: the change that waits for a review, or the last one that was declined. */
export function startReviews({ repository }: RunningService): Started {
	if (repository === null) return { close: () => undefined };
	return {
		layer: async (smallkey, layer) => {
			const review = await reviewOf(repository, smallkey);
			const declined = review ? null : await declinedOf(repository, smallkey);
			return layer || review || declined ? () => ({ review, declined }) : null;
		},
		close: () => undefined,
	};
}

async function reviewOf(repository: string, smallkey: string): Promise<LayerStatus["review"]> {
	const newest = (await readReviews(repository, "waiting", smallkey, historyMs)).at(-1);
	return newest ? { branch: newest.branch, commit: newest.commit, since: isoTime(newest.timeMs) } : null;
}

/** The newest declined change of a layer; null if there is none, or the layer has changed since. */
async function declinedOf(repository: string, smallkey: string): Promise<LayerStatus["declined"]> {
	const newest = (await readReviews(repository, "declined", smallkey, historyMs)).at(-1);
	if (!newest?.main) return null;
	// Without the commit of that time, such as in an older copy of the branch, any commit of the layer is newer.
	const newer = ["rev-list", "-1", "--first-parent", "--ignore-missing", servedRef, `^${newest.main}`];
	const later = await gitInTime(repository, [...newer, "--", layerPath(smallkey)]);
	if (later !== "") return null;
	const commit = await gitText(repository, ["rev-parse", `${newest.commit}^`], { limitMs: historyMs });
	return { commit, at: isoTime(newest.timeMs), reason: newest.reason };
}
