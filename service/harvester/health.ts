import {
	type Health,
	healthPath,
	healthText,
	parseHealth,
	type Seen,
	updateHealth,
	weekOf,
} from "../../registry/health.ts";
import { isRefusal, type Meta, type Store } from "../../store/store.ts";
import { serviceMeta } from "./commit.ts";

/** Updates the health with the results of checks. @param seen smallkey → result; null: healthy */
export function withSeen(
	before: Health,
	seen: ReadonlyMap<string, Seen | null>,
	all: Iterable<string>,
	now: Date,
): Health {
	const registered = new Set(all);
	return updateHealth(before, seen, weekOf(now), (smallkey) => registered.has(smallkey));
}

export interface StoredHealth {
	store: Store;
	/** Reads the stored `layers/health.json`; null if it does not exist. */
	readHealth: () => Promise<string | null>;
	now: () => Date;
}

/** Changes the stored health with a commit; no change, no commit. @throws {Error} if it cannot be read or stored */
export async function commitHealth(
	{ store, readHealth, now }: StoredHealth,
	change: (before: Health) => { after: Health } & Pick<Meta, "subject" | "trailers">,
): Promise<void> {
	const before = await readHealth();
	const { after, ...words } = change(parseHealth(before));
	const text = healthText(after);
	if (text === before) return;
	const meta = { ...serviceMeta(now), ...words, smallkey: null };
	const outcome = await store.change(async () => [{ path: healthPath, text }], meta);
	if (isRefusal(outcome)) throw new Error(`${healthPath}: ${outcome.errors.join("; ")}`);
}
