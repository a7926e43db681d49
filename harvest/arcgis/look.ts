import { numberOf, objectOf, parseAnswer } from "../answer.ts";
import { type Look, seen, unseen } from "../look.ts";
import type { Ask } from "../net/ask.ts";
import { serviceAddress } from "./answers.ts";

/**
 * Looks at a feature layer: whether it has a feature, as a viewer would ask for it. Never throws.
 * A service that does not take the question says nothing of the layer.
 */
export async function lookAtFeatures(address: string, ask: Ask, signal?: AbortSignal): Promise<Look> {
	const query = { where: "1=1", outFields: "*", returnGeometry: "true", resultRecordCount: "1", f: "json" };
	const answer = await ask(serviceAddress(address, "/query", query), signal);
	// An older server knows no count of records, and sends all of them.
	if (!answer.ok && (answer.tooLarge || (answer.status !== null && answer.status < 500))) return seen;
	if (!answer.ok) return unseen(answer.kind, answer.text);
	const { features, error } = objectOf(parseAnswer(answer.bytes));
	const code = numberOf(objectOf(error).code);
	if (code !== null && code >= 500)
		return unseen("server", `answers with ArcGIS error ${code} when it is asked for a feature`);
	return Array.isArray(features) && features.length === 0
		? { state: "empty", text: "has no features" }
		: seen;
}
