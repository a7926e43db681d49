const draft07 = "http://json-schema.org/draft-07/schema#";

const version = { description: "A reader that finds another number reads no further.", const: 2 } as const;
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
const week = { type: "string", pattern: "^\\d{4}-W\\d{2}$" } as const;
const health = {
	description: "What is wrong with a layer, and the week in which that was first seen.",
	type: "object",
	required: ["state", "since"],
	properties: {
		state: { enum: ["wrong", "down", "empty"] },
		since: week,
	},
	additionalProperties: false,
} as const;
const box = {
	description: "xmin, ymin, xmax, ymax in the map's spatial reference.",
	type: "array",
	items: { type: "number" },
	minItems: 4,
	maxItems: 4,
} as const;

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

/** `index/index.json` */
export const catalogueIndex = file("catalogue-index", "What the index of the catalogue consists of", {
	version,
	layers: { description: "Number of layers.", ...count },
	sets: {
		description: "Set → the file that says how it is cut; its pieces are in the folder of the same name.",
		type: "object",
		additionalProperties: text,
	},
	frequent: { description: "The file that says which terms many layers have.", ...text },
});

/** `index/layers.json` and its like */
export const catalogueSet = file("catalogue-set", "How a set of the index is cut into pieces", {
	version,
	pieces: { description: "Number of pieces.", ...count },
	shape: { description: "The tree of the cuts, two bits a node (docs/catalogue.md).", ...text },
});

/** `index/names/<piece>.json` */
export const catalogueNames = file(
	"catalogue-names",
	"Who some layers are: what a row of search results shows",
	{
		version,
		names: {
			type: "array",
			items: {
				description:
					"Smallkey; type: wms, feature, or the service type of a registration of version 2.0; English title; French title (0: the same); host of the service's address in English, and in French after a space where it is another one; health (wrong, down, empty; nothing where it was not seen to be sick); public name of who registered it, where the operator gave one; extent in the map's spatial reference, rounded outwards: xmin, ymin, width, height (0: not known).",
				type: "array",
				minItems: 8,
				maxItems: 8,
			},
		},
	},
);

/** `index/layers/<piece>.json` */
export const catalogueLayers = file("catalogue-layers", "What else the index says of some layers", {
	version,
	layers: {
		type: "array",
		items: {
			type: "object",
			required: ["smallkey", "fragments"],
			properties: {
				smallkey,
				commit: {
					...commit,
					description: "The last commit that changed it; left out where the whole history is not there.",
				},
				date,
				since: { description: "The week in which it was first seen to be sick.", ...week },
				extent: box,
				fragments: {
					description:
						"Target → content hashes of the English and of the French fragment, a space between them: their entity tags, without quotes. Nothing stands for a fragment that is not served.",
					type: "object",
					additionalProperties: { type: "string", pattern: "^[0-9a-f]* [0-9a-f]*$" },
				},
			},
			additionalProperties: false,
		},
	},
});

/** `index/keys/<piece>.json` */
export const catalogueKeys = file("catalogue-keys", "Smallkeys in lower case, sorted", {
	version,
	keys: { type: "array", items: { type: "string", pattern: "^[a-z0-9_+=-]{1,64}$" } },
});

/** `index/terms/<piece>.json` */
export const catalogueTerms = file("catalogue-terms", "Which layers have a word or a filter", {
	version,
	terms: {
		type: "array",
		items: {
			description:
				"The term; the numbers of the layers that have it, packed (docs/catalogue.md); of a frequent term the octal figures with which all of these numbers start.",
			type: "array",
			items: text,
			minItems: 2,
			maxItems: 3,
		},
	},
});

/** `index/frequent.json` */
export const catalogueFrequent = file("catalogue-frequent", "Which terms many layers have", {
	version,
	terms: {
		type: "array",
		items: {
			description:
				"The term, and the tree by which its layers are halved by the bits of their numbers, from the root: 1 for what is halved, 0 for a run, six bits a character.",
			type: "array",
			items: text,
			minItems: 2,
			maxItems: 2,
		},
	},
});

/** `index/facets/<piece>.json` */
export const catalogueFacets = file("catalogue-facets", "The values of the filters", {
	version,
	facets: {
		type: "array",
		items: {
			description: "The filter's term, and how many layers have it.",
			type: "array",
			minItems: 2,
			maxItems: 2,
		},
	},
});

/** `index/health.json` */
export const catalogueHealth = file("catalogue-health", "The sick layers and their owners", {
	version,
	sick: { description: "Number of all sick layers.", ...count },
	layers: {
		description: "The first 400.",
		type: "array",
		maxItems: 400,
		items: {
			type: "object",
			required: ["smallkey", "title", "health", "owners"],
			properties: { smallkey, title: inBothLanguages, health, owners: { type: "array", items: text } },
			additionalProperties: false,
		},
	},
});

/** `changes/index.json` */
export const changesIndex = file("changes-index", "How far the changes go", {
	version,
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
	version,
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
