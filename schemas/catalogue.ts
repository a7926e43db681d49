const draft07 = "http://json-schema.org/draft-07/schema#";

/** @param number which one the files have */
function versionOf<Number extends number>(number: Number) {
	return { description: "A reader that finds another number reads no further.", const: number } as const;
}

const version = versionOf(3);
const changesVersion = versionOf(2);
const smallkey = { type: "string", pattern: "^[A-Za-z0-9_+=-]{1,64}$" } as const;
const count = { type: "integer", minimum: 0 } as const;
const text = { type: "string" } as const;
const date = {
	description: "When it was committed: UTC, whole seconds.",
	type: "string",
	pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$",
} as const;
const commit = { description: "A commit's full id.", type: "string", pattern: "^[0-9a-f]{40,64}$" } as const;
const inBothLanguages = {
	type: "object",
	required: ["en", "fr"],
	properties: { en: text, fr: text },
	additionalProperties: false,
} as const;
const repair = { description: "Whether a repair of the layer waits for a decision.", const: true } as const;
const state = {
	description:
		"wrong: the registration is; down: the service does not answer; empty: there is nothing to be seen.",
	enum: ["wrong", "down", "empty"],
} as const;

const cause = { description: "What was seen last, such as `answers with status 503`.", ...text } as const;

/** A file that is a JSON object of just these members. */
function file<Members extends object>(name: string, title: string, properties: Members) {
	return {
		$schema: draft07,
		$id: `${name}.schema.json`,
		title,
		type: "object",
		required: Object.keys(properties),
		properties,
		additionalProperties: false,
	};
}

const chunk = { type: "string", pattern: "^index/chunks/[0-9]{2}-[0-9a-f]{16}\\.json$" } as const;

/** `index/index.json` */
export const catalogueIndex = {
	...file("catalogue-index", "Where the entries of the catalogue are", {
		version,
		layers: { description: "Number of layers.", ...count },
		commit: { ...commit, description: "The commit that all this is of; left out where it is not known." },
		chunks: {
			description:
				"Path of each of the 64 chunks below the site; null for one without layers. A layer is in the chunk whose number is the FNV-1a hash of 32 bits (RFC 9923) of its smallkey in lower case, xor the same shifted right by 16 bits, modulo 64. Names hold the hash of the content: a file never changes.",
			type: "array",
			minItems: 64,
			maxItems: 64,
			items: { anyOf: [{ type: "null" }, chunk] },
		},
	}),
	required: ["version", "layers", "chunks"],
};

/** One language or both. */
const inSomeLanguage = { ...inBothLanguages, required: [], minProperties: 1 } as const;

/** `index/chunks/<chunk>-<hash>.json` */
export const catalogueChunk = file("catalogue-chunk", "The entries of some layers, sorted by smallkey", {
	version,
	entries: {
		type: "array",
		minItems: 1,
		items: {
			type: "object",
			required: ["smallkey", "type", "title", "address"],
			properties: {
				smallkey,
				type: {
					description: "wms, feature, or the service type of a registration of version 2.0.",
					...text,
				},
				title: inBothLanguages,
				description: {
					...inSomeLanguage,
					description: "At most 300 characters of what the service says; left out where it says nothing.",
				},
				keywords: { description: "In both languages, each once.", type: "array", items: text },
				address: {
					description: "Of the service, as registered; fr is left out where it is the same.",
					...inBothLanguages,
					required: ["en"],
				},
				layers: {
					description:
						"Names or numbers of the layers inside the service, where the address does not say it.",
					type: "array",
					items: text,
				},
				sender: {
					description: "Public name of the sender who registered it last, where the operator gave one.",
					anyOf: [text, inBothLanguages],
				},
				changed: {
					description:
						"The last commit that changed it, by its first 12 digits; left out where the whole history is not there.",
					type: "object",
					required: ["commit", "date"],
					properties: { commit: { type: "string", pattern: "^[0-9a-f]{12}$" }, date },
					additionalProperties: false,
				},
				health: {
					description:
						"What is wrong with the layer, and the week in which that was first seen; null where it was not checked yet; left out where no problem was seen.",
					anyOf: [
						{ type: "null" },
						{
							type: "object",
							required: ["state", "since"],
							properties: { state, since: { type: "string", pattern: "^\\d{4}-W\\d{2}$" }, cause, repair },
							additionalProperties: false,
						},
					],
				},
				bounds: {
					description: "West, south, east, north in degrees; left out where it is not known.",
					type: "array",
					items: { type: "number" },
					minItems: 4,
					maxItems: 4,
				},
				thumbnail: { description: "Path of its picture below the site, where there is one.", ...text },
				unread: {
					description: "<target>/<lang> of each form in which it cannot be read.",
					type: "array",
					items: text,
				},
			},
			additionalProperties: false,
		},
	},
});

/** `index/health.json` */
export const catalogueHealth = file("catalogue-health", "The sick layers and their owners", {
	version,
	sick: { description: "Number of sick layers.", ...count },
	checked: { description: "Number of layers that were checked.", ...count },
	unchecked: { description: "Number of layers that were not checked yet.", ...count },
	groups: {
		description: "The sick layers of the same owners at one host.",
		type: "array",
		items: {
			type: "object",
			required: ["owner", "host", "layers"],
			properties: {
				owner: { description: "With commas between them; empty where none is named.", ...text },
				host: text,
				layers: {
					type: "array",
					minItems: 1,
					items: {
						type: "object",
						required: ["smallkey", "title", "state", "since"],
						properties: {
							smallkey,
							title: inBothLanguages,
							state,
							since: {
								description: "The week in which it was first seen so.",
								type: "string",
								pattern: "^\\d{4}-W\\d{2}$",
							},
							cause,
							repair,
						},
						additionalProperties: false,
					},
				},
			},
			additionalProperties: false,
		},
	},
});

/** `changes/index.json` */
export const changesIndex = file("changes-index", "How far the changes go", {
	version: changesVersion,
	commits: { description: "Commits that touched layers, from the first one on.", ...count },
	commit,
	date,
	perPiece: {
		description: "Commit number n, from 0 on, is in changes/<n / perPiece, rounded down>.json.",
		type: "integer",
		minimum: 1,
	},
	first: { description: "Number of the first piece that is kept.", ...count },
	starts: {
		description: "The first 12 digits of the commit with which each kept piece starts.",
		type: "array",
		items: { type: "string", pattern: "^[0-9a-f]{12}$" },
	},
});

/** `changes/<n>.json` */
export const changesPiece = file("changes-piece", "Commits that touched layers, oldest first", {
	version: changesVersion,
	piece: count,
	commits: {
		type: "array",
		items: {
			type: "object",
			required: ["commit", "date"],
			properties: {
				commit,
				date,
				layers: {
					type: "array",
					items: {
						type: "object",
						required: ["smallkey", "kind"],
						properties: { smallkey, kind: { enum: ["added", "changed", "removed"] } },
						additionalProperties: false,
					},
				},
				repairs: {
					description: "Smallkeys of layers for which a repair was proposed.",
					type: "array",
					items: smallkey,
				},
				many: {
					description: "The number of layers, instead of a list of them: read the index again.",
					type: "integer",
					minimum: 1,
				},
			},
			additionalProperties: false,
		},
	},
});
