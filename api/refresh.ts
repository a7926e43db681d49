import { problemAt } from "../registry/texts.ts";
import type { Refusal } from "../store/store.ts";
import type { Refresh } from "./context.ts";

const dayMs = 86_400_000;

const refreshPath = /\/(?:update|refresh)\/(?:(all)|(\d{1,5}))(?:\/([1-9]\d{0,6}))?$/;

/**
 * POST <base>/v1/update/<all or days> and <base>/v2/refresh/<all or days>[/<limit>]: with an empty body.
 * Harvests the layers that the sender may change, and answers with their number.
 */
export function parseRefresh(
	target: string,
	body: Uint8Array,
	isHarvesting: boolean,
): Omit<Refresh, "isWanted"> | Refusal {
	if (body.length > 0) return { status: 400, errors: [problemAt("", "body-empty")] };
	const match = refreshPath.exec(target);
	if (!match) return { status: 400, errors: [problemAt("path", "path-refresh")], reason: "path" };
	if (!isHarvesting)
		return { status: 409, errors: [problemAt("", "no-harvest")], reason: "does not harvest" };
	const [, all, days, maxLayers] = match;
	return {
		olderThanMs: all === undefined ? Number(days) * dayMs : null,
		maxLayers: maxLayers === undefined ? null : Number(maxLayers),
	};
}
