const warnings = {
	description: "What is accepted but probably not intended, as <JSON pointer>: <what is odd>.",
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
		hint: {
			description:
				"What to look at where a signature does not match, or the time that was sent where it is wrong.",
			type: "string",
		},
	},
} as const;

/** JSON Schema (draft-07) of the element for an unknown key in an answer of several fragments at v0.9. */
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

const time = { type: "string", format: "date-time" } as const;
const findings = {
	description: "What services said that is wrong, as <JSON pointer>: <text>.",
	type: "array",
	items: { type: "string" },
} as const;

/** JSON Schema (draft-07) of how a layer is. */
export const layerStatus = {
	$schema: "http://json-schema.org/draft-07/schema#",
	$id: "layer-status.schema.json",
	title: "How a layer is",
	type: "object",
	required: ["smallkey", "registered", "commit", "review", "declined", "harvest", "health"],
	properties: {
		smallkey: { type: "string" },
		registered: {
			description: "When it was last registered; null where it is not yet, or that is not known.",
			anyOf: [{ type: "null" }, time],
		},
		commit: { description: "By which commit.", type: ["string", "null"] },
		review: {
			description: "The change that waits for a reviewer.",
			anyOf: [
				{ type: "null" },
				{
					type: "object",
					required: ["branch", "commit", "since"],
					properties: { branch: { type: "string" }, commit: { type: "string" }, since: time },
				},
			],
		},
		declined: {
			description: "The last change of the layer, by its commit, where a reviewer has declined it, and why.",
			anyOf: [
				{ type: "null" },
				{
					type: "object",
					required: ["commit", "at", "reason"],
					properties: { commit: { type: "string" }, at: time, reason: { type: "string" } },
				},
			],
		},
		harvest: {
			type: "object",
			required: ["state"],
			properties: {
				state: {
					description:
						"none: the layer is not harvested. off: this service does not harvest. failed: no service answered.",
					enum: ["none", "off", "waiting", "done", "failed"],
				},
				at: time,
				findings,
				next_try: time,
			},
		},
		health: {
			description: "Its health when it was last checked as a viewer would use it.",
			type: "object",
			required: ["state"],
			properties: {
				state: { enum: ["unknown", "well", "wrong", "down", "empty"] },
				since: { description: "The week since when it is sick: 2026-W09.", type: "string" },
				repair: { description: "The branch on which a repair waits for a reviewer.", type: "string" },
				at: time,
				findings,
			},
		},
	},
} as const;
