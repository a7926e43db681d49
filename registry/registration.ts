import type { FromSchema } from "json-schema-to-ts";
import type { registration1 } from "../schemas/registration-1.ts";
import type { registration2 } from "../schemas/registration-2.ts";
import { validateRegistration1, validateRegistration2 } from "../schemas/validate-registration.ts";
import { addAddressProblems } from "./addresses.ts";
import { parseJson } from "./json.ts";
import { Problems } from "./problems.ts";
import { addSchemaProblems, type Rules } from "./schema-problems.ts";
import { type Lang, langs } from "./smallkey.ts";

/** Largest registration in bytes, as a body and as a file. */
export const largestRegistration = 64 * 1024;

/** A registration of version 1.x: one kind of service for both languages. */
export interface Registration1 extends FromSchema<typeof registration1> {}

/** A registration of version 2.0: each language's node says what kind of service it is. */
export interface Registration2 extends FromSchema<typeof registration2> {}

/** The payload of a PUT and the content of a layer's file (specification, "Layer registration"). */
export type Registration = Registration1 | Registration2;

/** A layer in one language, in a registration of version 1.x. */
export type LangEntry = Registration1[Lang];

/** A layer in one language, in a registration of version 2.0; `service_type` tells the kinds apart. */
export type LangNode = Registration2[Lang];

/** Kinds of map services, in the words of version 2.0. */
export type ServiceType = LangNode["service_type"];

/** Whether a registration is of version 2.0. */
export function isVersion2(registration: Registration): registration is Registration2 {
	return !("payload_type" in registration);
}

/** The kind of service behind one language. */
export function serviceTypeOf(registration: Registration, lang: Lang): ServiceType {
	if (isVersion2(registration)) return registration[lang].service_type;
	return registration.payload_type === "wms" ? "ogcWms" : "esriFeature";
}

/** What kind of layer it is, in a few words: `wms`, `feature`, or the kinds of version 2.0. */
export function kindOf(registration: Registration): string {
	if (!isVersion2(registration)) return registration.payload_type;
	return [...new Set(langs.map((lang) => registration[lang].service_type))].join(" and ");
}

/** The languages whose service is harvested: one that is served with what its service says of it. */
export function harvestedLangs(registration: Registration): Lang[] {
	return langs.filter((lang) => {
		if (serviceTypeOf(registration, lang) === "esriFeature") return true;
		return isVersion2(registration) && takesAllLayers(registration[lang]);
	});
}

/** Whether a node is served with every layer of its service: `recursive`, where no layers are named. */
export function takesAllLayers(node: LangNode): boolean {
	return "recursive" in node && node.recursive === true && node.scrape_only === undefined;
}

/** A registration, or what is wrong with it as `<JSON pointer>: <rule>`, bounded. */
export type ParsedRegistration =
	| { registration: Registration; problems: [] }
	| { registration: null; problems: string[] };

/** Reads a registration from the bytes of a body or a file, by the rules of what is written or stored. */
export function parseRegistration(bytes: Uint8Array, rules: Rules): ParsedRegistration {
	if (bytes.length > largestRegistration) {
		const problem = `the document must have at most ${largestRegistration} bytes, not ${bytes.length}`;
		return { registration: null, problems: [problem] };
	}
	const parsed = parseJson(bytes);
	if (parsed.problems.length > 0) return { registration: null, problems: parsed.problems };
	const problems = new Problems();
	const validate = saysVersion2(parsed.value) ? validateRegistration2 : validateRegistration1;
	addSchemaProblems(problems, validate, parsed.value, rules);
	addAddressProblems(problems, parsed.value);
	if (!problems.isEmpty) return { registration: null, problems: problems.list() };
	return { registration: parsed.value as Registration, problems: [] };
}

/** The document's `version` decides by which schema it is read. */
function saysVersion2(value: unknown): boolean {
	return typeof value === "object" && value !== null && "version" in value && value.version === "2.0";
}
