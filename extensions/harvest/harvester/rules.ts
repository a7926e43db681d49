import { join } from "node:path";
import { tryJson } from "../../../registry/try-json.ts";
import { objectOf } from "../../../site/service/decode.ts";
import { readTextIfThere, replaceFile } from "../../../store/files/files.ts";
import type { Log } from "../../../store/store.ts";

/** Version of the rules by which services are read. A change of what is read of the same answers increases it. */
const rulesVersion = 2;

/** The time over which all layers are harvested again after such a change. */
const spreadMs = 86_400_000;

/**
 * When the layers that were harvested under earlier rules have been harvested again, in milliseconds since 1970: a day
 * after the first start with these rules, which `DATA_DIR/harvest-rules.json` notes.
 */
export async function againUntil(dataDir: string, nowMs: number, log: Log): Promise<number> {
	const path = join(dataDir, "harvest-rules.json");
	const { version, until } = objectOf(tryJson((await readTextIfThere(path)) ?? ""));
	const noted = typeof until === "string" ? Date.parse(until) : Number.NaN;
	if (version === rulesVersion && Number.isFinite(noted)) return noted;
	const untilMs = nowMs + spreadMs;
	const text = JSON.stringify({ version: rulesVersion, until: new Date(untilMs).toISOString() });
	await replaceFile(path, `${text}\n`).catch((error: Error) => log.warn(`${path}: ${error.message}`));
	return untilMs;
}
