import type { FromSchema } from "json-schema-to-ts";
import { addressesOf, addressProblems, isBlockedOn, kindProblem, withoutParameters } from "./addresses.ts";
import { parseJson } from "./json.ts";
import { registration1, registration2 } from "./schemas/registration.ts";
import { validateRegistration1, validateRegistration2 } from "./schemas/validate-documents.ts";
import { isOverallFile, type Lang, langs, otherLang } from "./smallkey.ts";
import {
	listProblems,
	type Problem,
	pointerOf,
	problemAt,
	type Rules,
	schemaProblems,
	shownValue,
	type Text,
	textOf,
} from "./texts.ts";
import { isObject } from "./untrusted.ts";

export interface Registration1 extends FromSchema<typeof registration1> {}

export interface Registration2 extends FromSchema<typeof registration2> {}

/** RCS specification, "Layer registration". */
export type Registration = Registration1 | Registration2;

export function isVersion2(registration: Registration): registration is Registration2 {
	return !("payload_type" in registration);
}

function namesIn(part: unknown): string[] {
	if (typeof part !== "object" || part === null) return [];
	return Object.entries(part).flatMap(([keyword, value]) => [
		...(keyword === "properties" ? Object.keys(value) : []),
		...namesIn(value),
	]);
}

const memberNames1 = namesIn(registration1);
const memberNames2 = namesIn(registration2);

/** In the schema's order; equal registrations give equal texts. */
export function canonicalText(registration: Registration): string {
	return `${JSON.stringify(registration, isVersion2(registration) ? memberNames2 : memberNames1, 2)}\n`;
}

export const maxRegistrationBytes = 64 * 1024;
/** Harvested descriptions are far shorter. */
const maxDescriptionBytes = 2 * 1024 * 1024;
/** Every version stays in every clone. */
const maxOtherBytes = 1024 * 1024;

export function maxBytesOf(path: string): number {
	if (isOverallFile(path) || !path.startsWith("layers/")) return maxOtherBytes;
	return path.endsWith(".service.json") ? maxDescriptionBytes : maxRegistrationBytes;
}

export type LangPart1 = Registration1[Lang];

export type Members = LangPart1 & {
	scrape_only?: (string | number)[];
	feature_info_format?: string;
	tolerance?: number;
};

export type LangPart2 = Registration2[Lang];

export type ServiceType = LangPart2["service_type"];

export const readInfoTypes: ReadonlySet<string> = new Set(["text/html", "text/plain", "application/json"]);

export function serviceTypeOf(registration: Registration, lang: Lang): ServiceType {
	if (isVersion2(registration)) return registration[lang].service_type;
	return registration.payload_type === "wms" ? "ogcWms" : "esriFeature";
}

export function kindOf(registration: Registration): string {
	if (!isVersion2(registration)) return registration.payload_type;
	return [...new Set(langs.map((lang) => registration[lang].service_type))].join(" and ");
}

export function namedLayers(registration: Registration, lang: Lang): readonly string[] {
	const type = serviceTypeOf(registration, lang);
	if (type !== "ogcWms" && type !== "ogcWmts") return [];
	if (!isVersion2(registration)) return [registration[lang].layer ?? ""].filter(Boolean);
	const node = registration[lang];
	return "scrape_only" in node ? (node.scrape_only ?? []).map(String) : [];
}

export function takesAllLayers(node: LangPart2): boolean {
	return "recursive" in node && node.recursive === true && node.scrape_only === undefined;
}

/** As the older service from 2.3 on, takes `…/MapServer/3` of a service as its layer 3. */
function withLayerNumber(node: unknown): unknown {
	if (
		!isObject(node) ||
		node.service_type !== "esriMapServer" ||
		typeof node.service_url !== "string" ||
		node.scrape_only !== undefined ||
		node.recursive
	)
		return node;
	const [, service, layer] = /^([^?#]*\/MapServer)\/(\d{1,9})\/?$/i.exec(node.service_url) ?? [];
	return service === undefined ? node : { ...node, service_url: service, scrape_only: [Number(layer)] };
}

export function parseRegistration(
	bytes: Uint8Array,
	rules: Rules,
): { registration: Registration | null; problems: Problem[] } {
	const refuse = (...problems: Problem[]) => ({ registration: null, problems });
	if (bytes.length > maxRegistrationBytes) return refuse(problemAt("document", "size", maxRegistrationBytes));
	const { value: sent, problems } = parseJson(bytes);
	if (problems.length > 0) return refuse(...problems);
	const { version, payload_type } = (sent ?? {}) as { version?: unknown; payload_type?: unknown };
	// Also a wrong version, such as 2 or "2.0.0".
	const isOf2 = version === "2.0" || (payload_type === undefined && /^"?2/.test(JSON.stringify(version)));
	const value =
		isOf2 && isObject(sent) ? { ...sent, en: withLayerNumber(sent.en), fr: withLayerNumber(sent.fr) } : sent;
	const validate = isOf2 ? validateRegistration2 : validateRegistration1;
	const invalid = validate(value) ? [] : schemaProblems(validate, rules);
	const broken = listProblems([...invalid, ...addressProblems(value, rules)]);
	if (broken.length > 0) return refuse(...broken);
	const registration = value as Registration;
	// The stored form may become too large to be read.
	const { length } = new TextEncoder().encode(rules === "written" ? canonicalText(registration) : "");
	return length > maxRegistrationBytes
		? refuse(problemAt("document", "size", maxRegistrationBytes))
		: { registration, problems: [] };
}

function* oddities(address: string, url: URL, type: string): Generator<Text> {
	// Stored registrations may have an address of another kind.
	const problem = kindProblem(url, type);
	if (problem) yield problem;
	if (type === "ogcWms" || type.startsWith("esri")) yield* oddQuery(address, type === "ogcWms");
	const host = url.hostname.replace(/^\[|\]$/g, "");
	const isLocal = host === "localhost" || host.endsWith(".localhost");
	if (isLocal || privateHost.test(host)) yield textOf("private-host", host);
	if (isBlockedOn(url.href)) yield textOf("not-https");
}

function* oddQuery(address: string, isWms: boolean): Generator<Text> {
	const [, kept = ""] = withoutParameters(address, isWms).split("?");
	const names = [...new Set(new URLSearchParams(kept).keys())];
	if (isWms && kept !== "") yield textOf("query-lost");
	else if (names.length > 0) yield textOf("query-kept", names.map(shownValue).join(", "));
}

/**
 * As a URL parser spells them: IPv4 private (RFC 1918), loopback, link-local, carrier-grade NAT; IPv6
 * loopback, unique local, link-local, IPv4-mapped. A library would enlarge the worker.
 */
const privateHost =
	/^(?:0|10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.[\d.]+$|^::1?$|^f[cd][0-9a-f]{2}:|^fe[89ab][0-9a-f]:|^::ffff:/;

export function warningsOf(registration: Registration): Problem[] {
	const warnings: Problem[] = [];
	for (const { address, type, path } of addressesOf(registration)) {
		const place = pointerOf(path);
		for (const text of type === null ? [] : oddities(address, new URL(address), type))
			warnings.push({ ...text, place });
	}
	for (const lang of langs) {
		const { service_name, feature_info_type }: Members = registration[lang];
		const other = otherLang[lang];
		if (!service_name && registration[other].service_name)
			warnings.push(problemAt(`/${lang}/service_name`, "name-of-other", other));
		if (feature_info_type !== undefined && !readInfoTypes.has(feature_info_type)) {
			const types = [...readInfoTypes].join(", ");
			warnings.push(problemAt(`/${lang}/feature_info_type`, "unread-info", types));
		}
	}
	return warnings;
}
