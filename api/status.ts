import { smallkeyText } from "../registry/judge.ts";
import { decodeSegment, parseSmallkey } from "../registry/smallkey.ts";
import type { Log } from "../store/log.ts";
import { StoreBusy } from "../store/store.ts";
import { type Reply, refuseStatus, statusReply } from "./reply.ts";

/** The status of a layer, for its publisher, without secrets and ids of senders. Times are ISO 8601, in UTC. */
export interface LayerStatus {
	smallkey: string;
	/** When it was last registered, and by which commit; null where it is not registered, or that is not known. */
	registered: string | null;
	commit: string | null;
	review: { branch: string; commit: string; since: string } | null;
	/** The reviewer's answer to the last change of the layer, its commit, where that was declined; null otherwise. */
	declined: { commit: string; at: string; reason: string } | null;
	harvest: HarvestStatus;
	health: HealthStatus;
}

/** The status of a layer's harvest. Findings are `<JSON pointer>: <text>`. */
export interface HarvestStatus {
	/**
	 * `none`: the layer is not harvested. `off`: this service does not harvest. `waiting`: queued or running. `failed`: no
	 * service of the layer answered.
	 */
	state: "none" | "off" | "waiting" | "done" | "failed";
	/** When it ended; absent where that was before the start of this process. */
	at?: string;
	findings?: string[];
	next_try?: string;
}

/** The result of the last check of the layer as a viewer sees it. */
export interface HealthStatus {
	state: "unknown" | "well" | "wrong" | "down" | "empty";
	/** The week in which it was first seen sick: `2026-W09`. */
	since?: string;
	/** The branch on which a repair waits for a reviewer. */
	repair?: string;
	at?: string;
	findings?: string[];
}

/**
 * Reads the status of a layer; null where there is neither a layer nor a waiting change.
 * @param address the client, for the limit of look-ups; null: not limited
 * @throws {StoreBusy}
 */
export type ReadStatus = (
	smallkey: string,
	address: string | null,
) => Promise<LayerStatus | "too many" | null>;

/** `Retry-After` of a look-up over the limit, in seconds. */
const retryAfter = 2;

/**
 * GET <base>/status/<smallkey>: the status of a layer. Refusals have `errors`, as those of writes.
 * @param segment the last segment of the target, still encoded
 * @param read null where the layers are not on this machine; the catalogue has their status then
 * @param address the client, for the limit of look-ups; null: not limited
 */
export async function answerStatus(
	segment: string,
	read: ReadStatus | null,
	log: Pick<Log, "error">,
	address: string | null = null,
): Promise<Reply> {
	const given = decodeSegment(segment) ?? segment;
	const smallkey = parseSmallkey(given);
	if (!smallkey) return refuseStatus(400, smallkeyText(given));
	if (!read)
		return refuseStatus(404, "status: the catalogue has it, since the layers are not on this machine");
	try {
		const status = await read(smallkey, address);
		if (status === "too many") {
			return refuseStatus(429, "this address asks for the status of too many layers at once", retryAfter);
		}
		return status ? statusReply(status) : refuseStatus(404, `smallkey: ${smallkey} is not registered`);
	} catch (error) {
		if (error instanceof StoreBusy) return refuseStatus(503, error.message, error.retryAfter);
		log.error(error);
		return refuseStatus(500, "the service failed");
	}
}
