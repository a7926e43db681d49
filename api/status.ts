import { smallkeyText } from "../registry/judge.ts";
import { decodeSegment, parseSmallkey } from "../registry/smallkey.ts";
import { StoreBusy } from "../store/store.ts";
import { type Reply, refuseStatus, tellStatus } from "./reply.ts";

/** How a layer is, for its publisher: no secret, and nobody's id. Times are ISO 8601, in UTC. */
export interface LayerStatus {
	smallkey: string;
	/** When it was last registered, and by which commit; null where it is not registered yet, or that is not known. */
	registered: string | null;
	commit: string | null;
	/** The change that waits for a reviewer; null where none does. */
	review: { branch: string; commit: string; since: string } | null;
	harvest: HarvestStatus;
	health: HealthStatus;
}

/** What is known of the services behind a layer; findings are in the publisher's words: `<JSON pointer>: <text>`. */
export interface HarvestStatus {
	/**
	 * `none`: there is nothing to be asked for. `off`: this service does not ask. `waiting`: its turn comes, or it is under
	 * way. `failed`: no service of it answered.
	 */
	state: "none" | "off" | "waiting" | "done" | "failed";
	/** When it ended; absent where that was before the service's start. */
	at?: string;
	findings?: string[];
	next_try?: string;
}

/** How the layer was when it was last looked at as a viewer would. */
export interface HealthStatus {
	state: "unknown" | "well" | "wrong" | "down" | "empty";
	/** The week in which it was first seen sick: `2026-W09`. */
	since?: string;
	at?: string;
	findings?: string[];
}

/**
 * Looks a layer up; null where neither a layer nor a change that waits is known.
 * @param address whom the look-up is counted for; null where it is not
 * @throws {StoreBusy}
 */
export type ReadStatus = (
	smallkey: string,
	address: string | null,
) => Promise<LayerStatus | "too many" | null>;

/** Seconds after which a look-up that found no room is worth trying again. */
const retryAfter = 2;

/**
 * GET <base>/status/<smallkey>: what became of a registration. Its refusals say what is wrong, as those of writes do.
 * @param segment the last segment of the target, still encoded
 * @param read null where the layers are elsewhere: the catalogue says how they are then
 * @param address whom it is counted for; null where it is not
 */
export async function answerStatus(
	segment: string,
	read: ReadStatus | null,
	report: (error: unknown) => void,
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
		return status ? tellStatus(status) : refuseStatus(404, `smallkey: ${smallkey} is not registered`);
	} catch (error) {
		if (error instanceof StoreBusy) return refuseStatus(503, error.message, error.retryAfter);
		report(error);
		return refuseStatus(500, "the service failed");
	}
}
