import { document } from "./definitions.ts";

/** JSON Schema (draft-07) of a registration. The document's `version` selects the schema of version 1.x or 2.0. */
export const registration = document("registration", "Registration of a map layer", {
	description: "The body of PUT /register/<smallkey>, and the content of layers/<ab>/<smallkey>.json.",
	if: { properties: { version: { const: "2.0" } }, required: ["version"] },
	// biome-ignore lint/suspicious/noThenProperty: JSON Schema's own keyword
	then: { $ref: "registration-2.schema.json" },
	else: { $ref: "registration-1.schema.json" },
});
