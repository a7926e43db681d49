import { mayChange } from "../registry/judge.ts";
import { textAt, textOf } from "../registry/texts.ts";
import type { Meta, Refusal } from "../store/store.ts";
import type { Context } from "./context.ts";
import type { Verified } from "./write.ts";

/** The number of layers that are checked. Those whose service is harvested are harvested again. */
export interface Refreshed {
	layers: number;
}

const dayMs = 86_400_000;

/** `…/all` or `…/<days>`, at v2 followed by a limit. */
const refreshPath = /\/(?:update|refresh)\/(?:(all)|(\d{1,5}))(?:\/([1-9]\d{0,6}))?$/;

/**
 * POST <base>/v1/update/<all or days> and <base>/v2/refresh/<all or days>[/<limit>]: signed, with an empty body. Harvests
 * the layers that the sender may change. A repeated request has no effect.
 */
export async function refresh(
	target: string,
	{ sender, body }: Verified,
	meta: Pick<Meta, "time" | "method"> & { request: string; method: string },
	context: Context,
): Promise<Refreshed | Refusal> {
	if (body.length > 0) return { status: 400, errors: [textOf("body-empty")] };
	const match = refreshPath.exec(target);
	if (!match) {
		return { status: 400, errors: [textAt("path", "path-refresh")], reason: "path" };
	}
	if (!context.refresh) {
		return { status: 409, errors: [textOf("no-harvest")], reason: "does not harvest" };
	}
	const [, all, days, maxLayers] = match;
	const isFirst = (await context.store.remember?.({ ...meta, status: 202 })) ?? true;
	if (!isFirst) return { layers: 0 };
	return {
		layers: context.refresh({
			olderThanMs: all === undefined ? Number(days) * dayMs : null,
			maxLayers: maxLayers === undefined ? null : Number(maxLayers),
			isWanted: (smallkey) => mayChange(sender, smallkey),
		}),
	};
}
