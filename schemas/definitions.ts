// Parts that several schemas share. The `code` beside a rule names its texts in registry/texts/. The code of any other
// rule is its keyword.

type Properties = Readonly<Record<string, unknown>>;

/** The schema of an object with these members and no others. @param optional those that may be missing */
export function exactly<const R extends Properties, const O extends Properties = Record<never, never>>(
	required: R,
	optional: O = {} as O,
) {
	return { ...having(required, optional), additionalProperties: false } as const;
}

/** The same with a description. */
export function described<const R extends Properties, const O extends Properties = Record<never, never>>(
	description: string,
	required: R,
	optional: O = {} as O,
) {
	return { description, ...exactly(required, optional) } as const;
}

/** The same for an object that may have further members. */
export function having<const R extends Properties, const O extends Properties = Record<never, never>>(
	required: R,
	optional: O = {} as O,
) {
	return {
		type: "object",
		required: Object.keys(required) as readonly (keyof R & string)[],
		properties: { ...required, ...optional } as R & O,
	} as const;
}

/** A schema (draft-07) that stands for itself, by the name of its file. */
export function document<const N extends string, const S extends Properties>(
	name: N,
	title: string,
	schema: S,
) {
	const $schema = "http://json-schema.org/draft-07/schema#";
	return { $schema, $id: `${name}.schema.json`, title, ...schema } as const;
}

/** A definition of the same schema, by its name. */
export function ref<const N extends string>(name: N, description?: string) {
	return { ...(description && { description }), $ref: `#/definitions/${name}` } as const;
}

export function string(description?: string) {
	return { ...(description && { description }), type: "string" } as const;
}

export function natural(description: string) {
	return { description, type: "integer", minimum: 0 } as const;
}

export function list<const S>(items: S, description?: string) {
	return { ...(description && { description }), type: "array", items } as const;
}

export function nullable<const S>(schema: S, description?: string) {
	return { ...(description && { description }), anyOf: [{ type: "null" }, schema] } as const;
}

/** An http or https address; that it is a URI, and holds no secret, is checked by code. */
export const address = {
	description: "An http or https address without user name and password.",
	type: "string",
	maxLength: 2048,
	pattern: "^[Hh][Tt][Tt][Pp][Ss]?://.",
	code: "address",
} as const;

/**
 * A text that viewers insert into their page unescaped. Its pattern applies to writes only: a stored text that breaks
 * it is still served, with its markup escaped.
 */
const text = {
	type: "string",
	maxLength: 1024,
	pattern: "^(?:[^<]|<(?![A-Za-z/!]))*$",
	code: "markup",
	onlyOnWrite: true,
} as const;

/** A media type (RFC 6838), with parameters. */
const mime = {
	type: "string",
	maxLength: 128,
	pattern: "^[A-Za-z0-9.+_-]+/[A-Za-z0-9.+_-]+(?:; ?[ -~]+)?$",
	code: "media-type",
} as const;

/** Where a layer is described. */
const metadata = {
	description: "Where the layer is described: a record's uuid, or the addresses themselves.",
	type: "object",
	minProperties: 1,
	not: { required: ["uuid"], anyOf: [{ required: ["metadata_url"] }, { required: ["catalogue_url"] }] },
	code: "metadata",
	properties: {
		uuid: { type: "string", minLength: 1, maxLength: 128 },
		metadata_url: ref("address"),
		catalogue_url: ref("address"),
	},
	additionalProperties: false,
} as const;

/** The definitions above, by their names. */
export const shared = { address, text, mime, metadata } as const;
