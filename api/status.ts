import { smallkeyText } from "../registry/judge.ts";
import { decodeSegment, parseSmallkey } from "../registry/smallkey.ts";
import type { LayerStatus } from "../schemas/answers.ts";
import type { Log } from "../store/log.ts";
import { StoreBusy } from "../store/store.ts";
import { type Reply, refuseStatus, statusReply } from "./reply.ts";

export type { LayerStatus } from "../schemas/answers.ts";

/**
 * Reads the status of a layer; null where there is neither a layer nor a waiting change.
 * @param address the client, for the limit of look-ups; null: not limited
 * @throws {StoreBusy}
 */
export type ReadStatus = (
	smallkey: string,
	address: string | null,
) => Promise<LayerStatus | "too many" | null>;

/** `Retry-After` of a look-up that exceeds the limit, in seconds. */
const retryAfter = 2;

/**
 * GET <base>/status/<smallkey>: the status of a layer. Refusals have `errors`, like those of writes.
 * @param segment the last segment of the target, still encoded
 * @param read null where the layers are not on this machine; then the catalogue has their status
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
