import { validateRegistration1, validateRegistration2 } from "../schemas/validate-registration.ts";
import { addAddressProblems } from "./addresses.ts";
import {
	canonicalText,
	isVersion2,
	type Registration,
	type Registration1,
	type Registration2,
} from "./canonical.ts";
import { parseJson } from "./json.ts";
import { addSchemaProblems, Problems, type Rules } from "./problems.ts";
import { type Lang, langs } from "./smallkey.ts";
import { type BrokenRule, broken } from "./texts.ts";

export { isVersion2, type Registration, type Registration1, type Registration2 } from "./canonical.ts";

/** Largest registration in bytes, as a body and as a file. */
export const maxRegistrationBytes = 64 * 1024;

/** A layer in one language, in a registration of version 1.x. */
export type LangEntry = Registration1[Lang];

/** A layer in one language, in a registration of version 2.0; `service_type` discriminates the kinds. */
export type LangNode = Registration2[Lang];

/** Kinds of map services, as version 2.0 names them. */
export type ServiceType = LangNode["service_type"];

/** The media types of answers to GetFeatureInfo that RAMP reads. */
export const readInfoTypes: ReadonlySet<string> = new Set(["text/html", "text/plain", "application/json"]);

/** The kind of the service of one language. */
export function serviceTypeOf(registration: Registration, lang: Lang): ServiceType {
	if (isVersion2(registration)) return registration[lang].service_type;
	return registration.payload_type === "wms" ? "ogcWms" : "esriFeature";
}

/** The kind of a layer, for a commit's subject: `wms`, `feature`, or the service types of version 2.0. */
export function kindOf(registration: Registration): string {
	if (!isVersion2(registration)) return registration.payload_type;
	return [...new Set(langs.map((lang) => registration[lang].service_type))].join(" and ");
}

/** The languages whose service is harvested: a feature layer, named layers of an OGC service, or a whole service. */
export function harvestedLangs(registration: Registration): Lang[] {
	return langs.filter((lang) => {
		if (serviceTypeOf(registration, lang) === "esriFeature") return true;
		if (namedLayers(registration, lang).length > 0) return true;
		return isVersion2(registration) && takesAllLayers(registration[lang]);
	});
}

/** Names of the layers of an OGC service that a registration names; empty for any other service. */
export function namedLayers(registration: Registration, lang: Lang): readonly string[] {
	const type = serviceTypeOf(registration, lang);
	if (type !== "ogcWms" && type !== "ogcWmts") return [];
	if (!isVersion2(registration)) return [registration[lang].layer ?? ""].filter(Boolean);
	const node = registration[lang];
	return "scrape_only" in node ? (node.scrape_only ?? []).map(String) : [];
}

/** Whether a node is served with every layer of its service: it has `recursive`, and names no layers. */
export function takesAllLayers(node: LangNode): boolean {
	return "recursive" in node && node.recursive === true && node.scrape_only === undefined;
}

export type ParsedRegistration =
	| { registration: Registration; problems: [] }
	| { registration: null; problems: BrokenRule[] };

/** Parses a registration from the bytes of a body or a file. */
export function parseRegistration(bytes: Uint8Array, rules: Rules): ParsedRegistration {
	if (bytes.length > maxRegistrationBytes) {
		return { registration: null, problems: [broken("document-size", maxRegistrationBytes, bytes.length)] };
	}
	const parsed = parseJson(bytes);
	if (parsed.problems.length > 0) return { registration: null, problems: parsed.problems };
	const problems = new Problems();
	const { version } = (parsed.value ?? {}) as { version?: unknown };
	const validate = version === "2.0" ? validateRegistration2 : validateRegistration1;
	addSchemaProblems(problems, validate, parsed.value, rules);
	addAddressProblems(problems, parsed.value, rules);
	if (!problems.isEmpty) return { registration: null, problems: problems.list() };
	const registration = parsed.value as Registration;
	if (rules === "stored") return { registration, problems: [] };
	const tooLarge = storedSizeProblem(registration);
	return tooLarge === null ? { registration, problems: [] } : { registration: null, problems: [tooLarge] };
}

/**
 * The problem of a registration that is too large to be read again in its stored form, where every member and entry has
 * its own line; else null.
 */
export function storedSizeProblem(registration: Registration): BrokenRule | null {
	const { length } = new TextEncoder().encode(canonicalText(registration));
	return length <= maxRegistrationBytes ? null : broken("stored-size", maxRegistrationBytes, length);
}
