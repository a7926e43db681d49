// The `code` of a rule names its text in registry/texts/; without one, the keyword does.

type Properties = Readonly<Record<string, unknown>>;

export function exactly<const R extends Properties, const O extends Properties = Record<never, never>>(
	required: R,
	optional: O = {} as O,
) {
	return { ...having(required, optional), additionalProperties: false } as const;
}

export function described<const R extends Properties, const O extends Properties = Record<never, never>>(
	description: string,
	required: R,
	optional: O = {} as O,
) {
	return { description, ...exactly(required, optional) } as const;
}

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

/** Draft-07. @param name before `.schema.json` */
export function document<const N extends string, const S extends Properties>(
	name: N,
	title: string,
	schema: S,
) {
	const $schema = "http://json-schema.org/draft-07/schema#";
	return { $schema, $id: `${name}.schema.json`, title, ...schema } as const;
}

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

/** `registry/addresses.ts` checks the rest. */
export const address = {
	description: "An http or https address without user name and password.",
	type: "string",
	maxLength: 2048,
	pattern: "^[Hh][Tt][Tt][Pp][Ss]?://.",
	code: "address",
} as const;

/** A stored text with markup is served, escaped. */
const text = {
	type: "string",
	maxLength: 1024,
	pattern: "^(?:[^<]|<(?![A-Za-z/!]))*$",
	code: "markup",
	onlyOnWrite: true,
} as const;

/** Spaces and Default_Ignorable_Code_Point. Not `\p{…}`, which validators of other languages do not read. */
const unseen =
	" \\u00a0\\u00ad\\u034f\\u061c\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f" +
	"\\u2800\\u3000\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffb";
const control = "\\u0000-\\u001f\\u007f-\\u009f";
const name = {
	allOf: [
		ref("text"),
		{ pattern: `^(?:[${unseen}]*[^${unseen}${control}][^${control}]*)?$`, code: "name", onlyOnWrite: true },
	],
} as const;

/** RFC 6838, with parameters. */
const mime = {
	type: "string",
	maxLength: 128,
	pattern: "^[A-Za-z0-9.+_-]+/[A-Za-z0-9.+_-]+(?:; ?[ -~]+)?$",
	code: "media-type",
} as const;

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

export const shared = { address, text, name, mime, metadata } as const;

/** In characters; bounds the time of the pattern. */
const maxImageLength = 100_000;

/** A data URI (RFC 2397) in base64 (RFC 4648, section 4). */
const imagePattern = /^data:image\/(?:png|jpeg|gif|bmp|svg\+xml);base64,([A-Za-z0-9+/]+={0,2})$/;

/** One pattern for all would take three times as long. */
export const formats = {
	image(text: string): boolean {
		if (text.length > maxImageLength) return false;
		const data = imagePattern.exec(text)?.[1];
		return data !== undefined && data.length % 4 === 0;
	},
};

export const owners = document("owners", "layers/owners.json: who approves changes of which layers", {
	...exactly(
		{
			operators: ref(
				"owners",
				"Owners of all files that are not layers, and of layers that no glob below matches.",
			),
			layers: {
				description:
					"Glob of smallkeys (* is any run of characters, ? is one) to its owners. The most specific glob applies.",
				type: "object",
				propertyNames: { pattern: "^[A-Za-z0-9_+=*?-]{1,64}$", code: "glob" },
				additionalProperties: ref("owners"),
			},
		},
		{
			senders: {
				description: "Sender to the people who have its secret: they cannot approve what it sends.",
				type: "object",
				propertyNames: { pattern: "^[A-Za-z0-9._-]{1,64}$", code: "sender-name" },
				additionalProperties: ref("owners"),
			},
		},
	),
	definitions: {
		owners: {
			...list({
				description:
					"A GitHub team or account: @organisation/team, or @login#id. gh api users/LOGIN --jq .id prints the id.",
				type: "string",
				pattern: "^@[A-Za-z0-9][A-Za-z0-9_-]{0,38}(?:/[A-Za-z0-9][A-Za-z0-9._-]{0,99}|#[1-9][0-9]{0,14})?$",
				code: "owner-name",
			}),
			minItems: 1,
			maxItems: 20,
		},
	},
});
