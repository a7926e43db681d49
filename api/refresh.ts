import { mayChange } from "../registry/judge.ts";
import type { Meta, Refusal } from "../store/store.ts";
import type { Context } from "./context.ts";
import type { Verified } from "./write.ts";

/** How many layers are looked at; those whose service is harvested are asked for. */
export interface Refreshed {
	layers: number;
}

const dayMs = 86_400_000;

/** `…/all`, `…/<days>`, and a limit behind it at v2. */
const refreshPath = /\/(?:update|refresh)\/(?:(all)|(\d{1,5}))(?:\/([1-9]\d{0,6}))?$/;

/**
 * POST <base>/v1/update/<all or days> and <base>/v2/refresh/<all or days>[/<limit>]: signed, with an empty body. The
 * layers that the sender may change are asked for. The same request again asks nobody again.
 */
export async function refresh(
	target: string,
	{ sender, body }: Verified,
	meta: Pick<Meta, "time" | "method"> & { request: string; method: string },
	context: Context,
): Promise<Refreshed | Refusal> {
	if (body.length > 0) return { status: 400, errors: ["the body must be empty"] };
	const match = refreshPath.exec(target);
	if (!match) {
		const rule = "must end with all or a number of days, and at v2 with a number of layers behind it";
		return { status: 400, errors: [`path: ${rule}`], reason: "path" };
	}
	if (!context.refresh) {
		const reason = "this service does not harvest: its operator, or the weekly workflow, reads services anew";
		return { status: 409, errors: [reason], reason: "does not harvest" };
	}
	const [, all, days, most] = match;
	const isFirst = (await context.store.remember?.({ ...meta, status: 202 })) ?? true;
	if (!isFirst) return { layers: 0 };
	return {
		layers: context.refresh({
			olderThanMs: all === undefined ? Number(days) * dayMs : null,
			maxLayers: most === undefined ? null : Number(most),
			isWanted: (smallkey) => mayChange(sender, smallkey),
		}),
	};
}
