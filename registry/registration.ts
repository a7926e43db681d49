import type { FromSchema } from "json-schema-to-ts";
import { registration1 } from "../schemas/registration-1.ts";
import { validateRegistration1 } from "../schemas/validate-registration.ts";
import { parseJson } from "./json.ts";
import { Problems, pointerOf, shownValue } from "./problems.ts";
import { addSchemaProblems } from "./schema-problems.ts";
import type { Lang } from "./smallkey.ts";

/** Largest registration in bytes, as a body and as a file. */
export const largestRegistration = 64 * 1024;

/** The payload of a PUT and the content of a layer's file (specification, "Layer registration"). */
export type Registration = FromSchema<typeof registration1>;

/** A layer in one language. */
export type LangEntry = Registration[Lang];

/** A registration, or what is wrong with it as `<JSON pointer>: <rule>`, bounded. */
export type ParsedRegistration =
	| { registration: Registration; problems: [] }
	| { registration: null; problems: string[] };

/** Reads a registration from the bytes of a body or a file. */
export function parseRegistration(bytes: Uint8Array): ParsedRegistration {
	if (bytes.length > largestRegistration) {
		const problem = `the document must have at most ${largestRegistration} bytes, not ${bytes.length}`;
		return { registration: null, problems: [problem] };
	}
	const parsed = parseJson(bytes);
	if (parsed.problems.length > 0) return { registration: null, problems: parsed.problems };
	const problems = new Problems();
	addSchemaProblems(problems, validateRegistration1, parsed.value);
	addAddressProblems(problems, parsed.value);
	if (!problems.isEmpty) return { registration: null, problems: problems.list() };
	return { registration: parsed.value as Registration, problems: [] };
}

/** Each place of an address in a registration. */
const addresses = [["service_url"], ["metadata", "metadata_url"], ["metadata", "catalogue_url"]];

/** What the schema's pattern cannot say of an address: it has to be a URI, and carry no secret. */
function addAddressProblems(problems: Problems, value: unknown): void {
	for (const lang of ["en", "fr"]) {
		for (const steps of addresses) {
			const address = steps.reduce(member, member(value, lang));
			if (typeof address !== "string" || !/^https?:\/\/./i.test(address)) continue;
			const problem = addressProblem(address);
			if (problem)
				problems.add(
					() => pointerOf([lang, ...steps]),
					() => problem,
				);
		}
	}
}

function member(value: unknown, name: string): unknown {
	if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
	return (value as Record<string, unknown>)[name];
}

/** The characters of a URI (RFC 3986, appendix A): the viewer's schema wants `format: uri` of an address. */
const uriCharacters = /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/;

function addressProblem(address: string): string | null {
	const url = parseAddress(address);
	if (!url) return `must be an http or https address, not ${shownValue(address)}`;
	if (url.username || url.password || /^[^:]+:\/*[^/?#]*@/.test(address)) {
		return "must not hold a user name or password";
	}
	if (!uriCharacters.test(address)) {
		return `must be percent-encoded where it has other characters than RFC 3986 allows: ${shownValue(address)}`;
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
	const { lang, metadata } = registration1.definitions;
	const canonical = ordered(entry, lang.properties);
	if (entry.metadata) canonical.metadata = ordered(entry.metadata, metadata.properties);
	return canonical;
}

/**
 * The one form in which a registration is written: members in the schema's order, two-space indent, a final
 * newline. Equal registrations give equal texts, however they were spelled.
 */
export function canonicalText(registration: Registration): string {
	const top = ordered(registration, registration1.properties);
	const value = { ...top, en: orderedLang(registration.en), fr: orderedLang(registration.fr) };
	return `${JSON.stringify(value, null, 2)}\n`;
}
