import { type Cause, causeText } from "../../../registry/causes.ts";
import type { SickState } from "../../../registry/health.ts";

/** Facts about a trouble that decide on what is tried next. */
interface TroubleFacts {
	/** Status of the answer, or code of an ArcGIS error; null if there is none. */
	status?: number | null;
	tooLarge?: boolean;
	/** Whether a later attempt may succeed. Without it, the state and the other facts decide. */
	isTemporary?: boolean;
}

/**
 * There is no usable answer, or a service cannot be described, or not completely. The message is the
 * cause in English: `answers with status 404`.
 */
export class Trouble extends Error {
	/** An `Answer` is not ok if it is a trouble. */
	readonly ok = false;
	override readonly name = "Trouble";
	readonly status: number | null;
	readonly tooLarge: boolean;
	readonly isTemporary: boolean;

	constructor(
		readonly state: SickState,
		readonly what: Cause,
		{ status = null, tooLarge = false, isTemporary }: TroubleFacts = {},
	) {
		super(causeText("en", what));
		this.status = status;
		this.tooLarge = tooLarge;
		this.isTemporary = isTemporary ?? (state === "down" && !tooLarge && !isRefusal(status));
	}
}

/** Statuses of a temporary refusal: the service was slow or busy (RFC 9110 section 15.5.9, RFC 6585 section 4). */
const temporaryRefusals = new Set([408, 429]);

/** Whether a status means that the service does not offer this. */
function isRefusal(status: number | null): boolean {
	if (status === null || temporaryRefusals.has(status)) return false;
	return (status >= 400 && status < 500) || status === 501;
}
