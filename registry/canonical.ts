import type { FromSchema } from "json-schema-to-ts";
import { registration1, registration2 } from "../schemas/registration.ts";

/** A registration of version 1.x: one kind of service for both languages. */
export interface Registration1 extends FromSchema<typeof registration1> {}

/** A registration of version 2.0: each language's node names its own kind of service. */
export interface Registration2 extends FromSchema<typeof registration2> {}

/** The payload of a PUT and the content of a layer's file (specification, "Layer registration"). */
export type Registration = Registration1 | Registration2;

export function isVersion2(registration: Registration): registration is Registration2 {
	return !("payload_type" in registration);
}

/** The names of all members in a schema, in the schema's order. */
function namesIn(part: unknown): string[] {
	if (typeof part !== "object" || part === null) return [];
	return Object.entries(part).flatMap(([keyword, value]) => [
		...(keyword === "properties" ? Object.keys(value) : []),
		...namesIn(value),
	]);
}

const names1 = namesIn(registration1);
const names2 = namesIn(registration2);

/**
 * The canonical text of a registration: members in the schema's order, two-space indent, a final newline. Equal
 * registrations give equal texts.
 */
export function canonicalText(registration: Registration): string {
	return `${JSON.stringify(registration, isVersion2(registration) ? names2 : names1, 2)}\n`;
}
