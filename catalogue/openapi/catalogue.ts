import {
	catalogueFacets,
	catalogueFrequent,
	catalogueHealth,
	catalogueIndex,
	catalogueKeys,
	catalogueLayers,
	catalogueNames,
	catalogueSet,
	catalogueTerms,
	changesIndex,
	changesPiece,
} from "../../schemas/catalogue.ts";
import { schemaRef } from "./components.ts";

type Json = unknown;

/** One file, or many of one kind. */
interface CatalogueFile {
	path: string;
	operationId: string;
	summary: string;
	/** Null for the feed, which is no JSON. */
	schema: { $id: string } | null;
}

const sets = [
	["names", "Who some layers are: what a row of search results shows", catalogueNames],
	["layers", "What else is known of some layers", catalogueLayers],
	["keys", "Smallkeys in lower case, sorted", catalogueKeys],
	["terms", "Which layers have a word or a filter", catalogueTerms],
	["facets", "The values of the filters", catalogueFacets],
] as const;

const files: readonly CatalogueFile[] = [
	{
		path: "/index/index.json",
		operationId: "readIndex",
		summary: "What the index consists of",
		schema: catalogueIndex,
	},
	...sets.flatMap(([name, summary, schema]): CatalogueFile[] => {
		const word = name.slice(0, 1).toUpperCase() + name.slice(1);
		const path = `/index/${name}`;
		return [
			{
				path: `${path}.json`,
				operationId: `readCutsOf${word}`,
				summary: `How the set ${name} is cut`,
				schema: catalogueSet,
			},
			{ path: `${path}/{piece}.json`, operationId: `read${word}`, summary, schema },
		];
	}),
	{
		path: "/index/frequent.json",
		operationId: "readFrequentTerms",
		summary: "Which terms many layers have",
		schema: catalogueFrequent,
	},
	{
		path: "/index/health.json",
		operationId: "readHealth",
		summary: "The sick layers",
		schema: catalogueHealth,
	},
	{
		path: "/changes/index.json",
		operationId: "readChanges",
		summary: "How far the changes go",
		schema: changesIndex,
	},
	{
		path: "/changes/{commits}.json",
		operationId: "readCommits",
		summary: "Commits that touched layers",
		schema: changesPiece,
	},
	{
		path: "/changes/feed.xml",
		operationId: "readFeed",
		summary: "The last changes as an Atom feed",
		schema: null,
	},
];

/** Parameters of these paths, by the names that they have in them. */
export const catalogueParameters: Record<string, Json> = {
	piece: {
		name: "piece",
		in: "path",
		required: true,
		description: "Name of a piece, as the cuts of its set say.",
		schema: { type: "string", pattern: "^[0-9a-f]+$" },
	},
	commits: {
		name: "commits",
		in: "path",
		required: true,
		description: "Number of a piece of commits.",
		schema: { type: "integer", minimum: 0 },
	},
};

/** Where the catalogue is read by machines: files, the same from a service and from static hosting. */
export function cataloguePaths(): Record<string, Json> {
	return Object.fromEntries(files.map((file) => [file.path, { get: operationOf(file) }]));
}

function operationOf({ path, operationId, summary, schema }: CatalogueFile): Json {
	const content = schema
		? { "application/json": { schema: schemaRef(schema) } }
		: { "application/atom+xml": { schema: { type: "string" } } };
	const names = Object.keys(catalogueParameters).filter((name) => path.includes(`{${name}}`));
	const parameters = names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
	return {
		operationId,
		summary,
		tags: ["catalogue"],
		security: [],
		...(parameters.length > 0 && { parameters }),
		responses: {
			200: { description: "The file.", content },
			304: { description: "As If-None-Match says, it has not changed. No body." },
			404: { description: "There is no such piece: the index was published anew. No body." },
		},
	};
}
