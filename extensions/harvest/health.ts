import {
	type Cause,
	causeOf,
	causeText,
	cleanSickness,
	cutTexts,
	type Health,
	type Sickness,
	type SickState,
} from "../../site/data/health.ts";

export type CheckResult = Omit<Sickness, "since" | "repair">;

/** Layers; those that have been sick longest are kept. */
const maxSick = 5000;

export function checkResult(state: SickState, cause: Cause): CheckResult {
	// A finding about the host applies to the layer.
	const [inner] = cause.values;
	if (typeof inner === "object") return checkResult(state, inner);
	const [text = "", ...values] = cutTexts([causeText("en", cause), ...cause.values.map(String)]);
	return { state, cause: text, code: cause.code, ...(values.length > 0 && { values }) };
}

/** One sorted line a layer, so that git merges findings about different layers. Null if no layer is sick. */
export function healthText(health: Health): string | null {
	if (health.size === 0) return null;
	const bySince = [...health].sort(([a, x], [b, y]) => (x.since + a < y.since + b ? -1 : 1));
	const longest = bySince.slice(0, maxSick).sort(([a], [b]) => (a < b ? -1 : 1));
	const lines = longest.map(([smallkey, sickness]) => {
		return `    ${JSON.stringify(smallkey)}: ${JSON.stringify(cleanSickness(sickness))}`;
	});
	return `{\n  "sick": {\n${lines.join(",\n")}\n  }\n}\n`;
}

/** A layer in the same state keeps its week, an unchecked layer its entry. @param checks null: healthy */
export function updateHealth(
	before: Health,
	checks: ReadonlyMap<string, CheckResult | null>,
	week: string,
	registered: Pick<ReadonlySet<string>, "has">,
): Health {
	const kept = [...before].filter(([smallkey]) => !checks.has(smallkey) && registered.has(smallkey));
	const after = new Map<string, Sickness>(kept);
	for (const [smallkey, result] of checks) {
		if (!registered.has(smallkey)) continue;
		const previous = before.get(smallkey);
		// A check follows redirects silently; only `markRepairs` ends this state.
		if (result === null && previous?.state === "moved") after.set(smallkey, previous);
		if (result === null) continue;
		const since = previous?.state === result.state ? previous.since : week;
		after.set(smallkey, { ...result, since, ...(previous?.repair && { repair: true }) });
	}
	return after;
}

/** Marks exactly the layers whose repair waits. A healthy one is `moved`: only a redirect gives it a repair. */
export function markRepairs(health: Health, proposed: ReadonlySet<string>, week: string): Health {
	const marked = new Map<string, Sickness>();
	for (const [smallkey, { repair: _, ...sickness }] of health)
		if (sickness.state !== "moved" && !proposed.has(smallkey)) marked.set(smallkey, sickness);
	for (const smallkey of proposed) {
		const sickness = health.get(smallkey) ?? { ...checkResult("moved", causeOf("moved")), since: week };
		marked.set(smallkey, { ...sickness, repair: true });
	}
	return marked;
}

export function weekOf(time: Date): string {
	const day = new Date(time);
	// A week belongs to the year of its Thursday.
	day.setUTCDate(day.getUTCDate() + 4 - (day.getUTCDay() || 7));
	const year = day.getUTCFullYear();
	const week = Math.floor((day.getTime() - Date.UTC(year, 0, 1)) / 604_800_000) + 1;
	return `${year}-W${String(week).padStart(2, "0")}`;
}
