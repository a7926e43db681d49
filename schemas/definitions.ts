// Parts that several schemas have. `errorMessage` beside a rule says it in the words of who has to mend a document:
// "<pointer>: <errorMessage>, not <value>". Rules without one are worded alike everywhere (registry/schema-problems.ts).

/** An http or https address; that it is a URI, and holds no secret, is checked by code. */
export const address = {
	description: "An http or https address without user name and password.",
	type: "string",
	maxLength: 2048,
	pattern: "^[Hh][Tt][Tt][Pp][Ss]?://.",
	errorMessage: "must be an http or https address",
} as const;

/**
 * A text that viewers put into their page as it is. Its pattern is a rule for what is written only: what is stored
 * already stays served, with such a text made harmless.
 */
export const text = {
	type: "string",
	maxLength: 1024,
	pattern: "^(?:[^<]|<(?![A-Za-z/!]))*$",
	errorMessage: "must not hold < before a letter, / or !, which viewers take for markup",
	onlyOnWrite: true,
} as const;

/** A media type (RFC 6838), with parameters. */
export const mime = {
	type: "string",
	maxLength: 128,
	pattern: "^[A-Za-z0-9.+_-]+/[A-Za-z0-9.+_-]+(?:; ?[ -~]+)?$",
	errorMessage: "must be a media type, such as image/png",
} as const;

/** Where a layer is described. */
export const metadata = {
	description: "Where the layer is described: a record's uuid, or the addresses themselves.",
	type: "object",
	minProperties: 1,
	not: {
		required: ["uuid"],
		anyOf: [{ required: ["metadata_url"] }, { required: ["catalogue_url"] }],
	},
	errorMessage: "must have either a uuid, or a metadata_url, a catalogue_url or both",
	properties: {
		uuid: { type: "string", minLength: 1, maxLength: 128 },
		metadata_url: { $ref: "#/definitions/address" },
		catalogue_url: { $ref: "#/definitions/address" },
	},
	additionalProperties: false,
} as const;
