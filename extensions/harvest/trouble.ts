import { type Cause, causeText, type SickState } from "../../registry/health.ts";

/** No usable answer, or an incomplete description. The message is the cause in English: `answers with status 404`. */
export class Trouble extends Error {
	readonly ok = false;
	override readonly name = "Trouble";
	readonly status: number | null;
	readonly tooLarge: boolean;
	readonly isTemporary: boolean;

	constructor(
		readonly state: SickState,
		readonly what: Cause,
		facts: { status?: number | null; tooLarge?: boolean; isTemporary?: boolean } = {},
	) {
		super(causeText("en", what));
		this.status = facts.status ?? null;
		this.tooLarge = facts.tooLarge ?? false;
		this.isTemporary = facts.isTemporary ?? (state === "down" && !this.tooLarge && !isRefusal(this.status));
	}
}

/** After 408 and 429 the service was slow or busy (RFC 9110 section 15.5.9, RFC 6585 section 4). */
function isRefusal(status: number | null): boolean {
	if (status === null || status === 408 || status === 429) return false;
	return (status >= 400 && status < 500) || status === 501;
}

export function orTrouble<T>(task: Promise<T>): Promise<T | Trouble> {
	return task.catch((error) => {
		if (error instanceof Trouble) return error;
		throw error;
	});
}

export async function orNull<T>(task: Promise<T>): Promise<T | null> {
	const value = await orTrouble(task);
	return value instanceof Trouble ? null : value;
}
