import schema from "../schemas/registration.schema.json";
import { validateRegistration } from "../schemas/validate.ts";
import { parseJson, pointerSegment } from "./json.ts";
import type { Lang } from "./smallkey.ts";

/** Largest registration in bytes, as a body and as a file. */
export const largestRegistration = 64 * 1024;

/** Where a layer is described: a record's uuid, or one or both addresses. */
export interface Metadata {
	uuid?: string;
	metadata_url?: string;
	catalogue_url?: string;
}

/** A layer in one language (specification, "Layer registration"; optional fields as in the older service). */
export interface LangEntry {
	service_url: string;
	layer?: string;
	service_name?: string;
	display_field?: string;
	metadata?: Metadata;
	legend_format?: string;
	feature_info_type?: string;
	loading_mode?: "ondemand" | "snapshot";
	max_allowable_offset?: number;
}

/** The payload of a PUT and the content of a layer's file. */
export interface Registration extends Record<Lang, LangEntry> {
	version: string;
	payload_type: "wms" | "feature";
}

/** A registration, or every problem with it as `<JSON pointer>: <what is wrong>`. */
export type Checked =
	| { registration: Registration; problems: [] }
	| { registration: null; problems: string[] };

/** Reads a registration from the bytes of a body or a file, with every problem at once. */
export function parseRegistration(bytes: Uint8Array): Checked {
	if (bytes.length > largestRegistration) {
		const problem = `the document must have at most ${largestRegistration} bytes, not ${bytes.length}`;
		return { registration: null, problems: [problem] };
	}
	const parsed = parseJson(bytes);
	if (parsed.problems.length > 0) return { registration: null, problems: parsed.problems };
	const problems = [...schemaProblems(parsed.value), ...addressProblems(parsed.value)];
	if (problems.length > 0) return { registration: null, problems: [...new Set(problems)] };
	return { registration: parsed.value as Registration, problems: [] };
}

function schemaProblems(value: unknown): string[] {
	if (validateRegistration(value)) return [];
	const errors = validateRegistration.errors ?? [];
	return errors.filter((error) => error.keyword !== "if").map(describe);
}

type SchemaError = NonNullable<(typeof validateRegistration)["errors"]>[number];

/** One schema error in the words of somebody who has to mend the document. */
function describe(error: SchemaError): string {
	const where = error.instancePath;
	const params = error.params as Record<string, unknown>;
	const value = show(error.data);
	switch (error.keyword) {
		case "required":
			return `${where}/${pointerSegment(String(params.missingProperty))}: is missing`;
		case "additionalProperties":
			return `${where}/${pointerSegment(String(params.additionalProperty))}: is not a known member`;
		case "false schema":
			return `${where}: does not belong in a registration of this payload_type`;
		case "enum":
			return `${where}: must be ${(params.allowedValues as string[]).join(" or ")}, not ${value}`;
		case "type":
			return `${where || "the document"}: must be ${article(String(params.type))}, not ${value}`;
		case "maxLength":
			return `${where}: must have at most ${params.limit} characters`;
		case "minLength":
			return `${where}: must not be empty`;
		case "minimum":
			return `${where}: must be ${params.limit} or more, not ${value}`;
		case "not":
			return `${where}: must have either a uuid or addresses, not both`;
		case "minProperties":
			return `${where}: must have a uuid, or a metadata_url or catalogue_url`;
		case "pattern":
			return `${where}: ${patternRule(where)}, not ${value}`;
		default:
			return `${where}: ${error.message}, not ${value}`;
	}
}

function patternRule(where: string): string {
	if (where === "/version") return "must be 1.x.y, such as 1.0.0";
	if (where.endsWith("_url")) return "must be an http or https address";
	return "must be a media type, such as image/png";
}

function article(type: string): string {
	return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** A value for an error's text: JSON, at most 80 characters, and no user name or password of an address. */
function show(value: unknown): string {
	if (value === undefined) return "nothing";
	const text = JSON.stringify(value).replace(/\/\/[^/?#"]*@/g, "//…@");
	return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

/** Each place of an address in a registration. */
const addresses = [["service_url"], ["metadata", "metadata_url"], ["metadata", "catalogue_url"]];

/** What the schema's pattern cannot say of an address: it has to be a URI, and carry no secret. */
function addressProblems(value: unknown): string[] {
	const problems: string[] = [];
	for (const lang of ["en", "fr"]) {
		for (const steps of addresses) {
			const address = steps.reduce(member, member(value, lang));
			if (typeof address !== "string" || !/^https?:\/\/./i.test(address)) continue;
			const problem = addressProblem(address);
			if (problem) problems.push(`/${[lang, ...steps].join("/")}: ${problem}`);
		}
	}
	return problems;
}

function member(value: unknown, name: string): unknown {
	if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
	return (value as Record<string, unknown>)[name];
}

/** The characters of a URI (RFC 3986, appendix A): the viewer's schema wants `format: uri` of an address. */
const uriCharacters = /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/;

function addressProblem(address: string): string | null {
	const url = parseAddress(address);
	if (!url) return `must be an http or https address, not ${show(address)}`;
	if (url.username || url.password || /^[^:]+:\/*[^/?#]*@/.test(address)) {
		return "must not hold a user name or password";
	}
	if (!uriCharacters.test(address)) {
		return `must be percent-encoded where it has other characters than RFC 3986 allows: ${show(address)}`;
	}
	return null;
}

function parseAddress(address: string): URL | null {
	try {
		return new URL(address);
	} catch {
		return null;
	}
}

/** The members of one object in the order in which the schema names them. */
function ordered(value: object, properties: object): Record<string, unknown> {
	const names = Object.keys(properties).filter((name) => Object.hasOwn(value, name));
	return Object.fromEntries(names.map((name) => [name, (value as Record<string, unknown>)[name]]));
}

function orderedLang(entry: LangEntry): Record<string, unknown> {
	const { properties } = schema.definitions.lang;
	const canonical = ordered(entry, properties);
	if (entry.metadata) canonical.metadata = ordered(entry.metadata, properties.metadata.properties);
	return canonical;
}

/**
 * The one form in which a registration is written: members in the schema's order, two-space indent, a final
 * newline. Equal registrations give equal texts, however they were spelled.
 */
export function canonicalText(registration: Registration): string {
	const top = ordered(registration, schema.properties);
	const value = { ...top, en: orderedLang(registration.en), fr: orderedLang(registration.fr) };
	return `${JSON.stringify(value, null, 2)}\n`;
}
