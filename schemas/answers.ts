const warnings = {
	description: "What is accepted and probably not meant, as <JSON pointer>: <what is odd>.",
	type: "array",
	items: { type: "string" },
} as const;

/** JSON Schema (draft-07) of the answer to a write that was accepted. */
export const receipt = {
	$schema: "http://json-schema.org/draft-07/schema#",
	$id: "receipt.schema.json",
	title: "Receipt of a write",
	type: "object",
	required: ["smallkey", "commit", "fragments", "published", "warnings"],
	properties: {
		smallkey: { type: "string" },
		key: { description: "The same, as the older service called it.", type: "string" },
		commit: { description: "The commit that holds the change.", type: "string" },
		fragments: {
			description: "Where the layer is read.",
			type: "array",
			items: { type: "string" },
		},
		published: { description: "Whether it can be read there already.", type: "boolean" },
		branch: { description: "Where a reviewer has to agree: the branch of the change.", type: "string" },
		pull_request: { description: "Where there is one: its address.", type: "string" },
		draft: {
			description: "Where the catalogue shows what was sent on a map; only with PUBLIC_URL.",
			type: "string",
		},
		warnings,
		status: { description: "Where the layer's harvest and health can be followed.", type: "string" },
	},
} as const;

/** JSON Schema (draft-07) of the answer to a write that was refused. */
export const errors = {
	$schema: "http://json-schema.org/draft-07/schema#",
	$id: "errors.schema.json",
	title: "Why a write was refused",
	type: "object",
	required: ["errors"],
	properties: {
		errors: {
			description: "As <place>: <rule>; the first 20, and how many more there are.",
			type: "array",
			minItems: 1,
			items: { type: "string" },
		},
	},
} as const;

/** JSON Schema (draft-07) of what stands for an unknown key in an answer of several fragments at v0.9. */
export const missing = {
	$schema: "http://json-schema.org/draft-07/schema#",
	$id: "missing.schema.json",
	title: "A smallkey that was not found",
	type: "object",
	required: ["error_code", "smallkey"],
	properties: {
		error_code: { const: 404 },
		smallkey: { description: "As it was asked for.", type: "string" },
	},
} as const;
