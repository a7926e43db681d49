import type { Target } from "../../registry/targets/target.ts";
import { errors, layerStatus, missing } from "../../schemas/answers.ts";
import { catalogueParameters, cataloguePaths } from "./catalogue.ts";
import { json, ref, schemaComponents, schemaRef } from "./components.ts";
import { responses, securitySchemes, writePaths } from "./writes.ts";

type Json = unknown;

/** What differs between one service and another. */
export interface OpenApiSettings {
	/** Version of the service. */
	version: string;
	/** The forms in which layers are read there. */
	targets: readonly Target[];
	/** Where the paths begin; `/` where it is not known. */
	url: string;
}

/** The description of the whole interface (OpenAPI 3.1.1), from the schemas and the table of targets. */
export function openApiDocument({ version, targets, url }: OpenApiSettings): object {
	return {
		openapi: "3.1.1",
		info: {
			title: "Layer registrations and configuration fragments",
			summary: "Map layers registered by a signed PUT, read as fragments of a viewer's configuration",
			version,
			license: { name: "MIT", identifier: "MIT" },
		},
		servers: [{ url }],
		tags: [
			{ name: "read", description: "Layers in the form of one target; nothing has to be signed." },
			{ name: "write", description: "Signed by a sender." },
			{ name: "catalogue", description: "Who is registered, and what changed; not with SITE=off." },
			{ name: "operate", description: "Whether the service is well." },
		],
		paths: {
			...Object.assign({}, ...targets.map(readPaths)),
			...writePaths(),
			...cataloguePaths(),
			...statusPaths(),
			...healthPaths(),
		},
		components: { schemas: schemaComponents(), parameters, securitySchemes, responses },
	};
}

/** The schema of one target's fragment. */
function fragmentRef({ name }: Target): { $ref: string } {
	return schemaRef({ $id: `fragment-${name}.schema.json` });
}

/** Where one layer, and where several, are read at a target. */
function readPaths(target: Target): Record<string, Json> {
	const one = json("The layer.", fragmentRef(target));
	const several = {
		description: "One element for each key, in the order of the keys.",
		content: {
			"application/json": { schema: { type: "array", items: elementOf(target) } },
			"application/javascript": {
				schema: { description: "The same as a function's argument.", type: "string" },
			},
		},
	};
	const docs = [ref("parameters", "lang"), ref("parameters", "smallkeys"), ref("parameters", "callback")];
	if (target.doc === target.docs) {
		// A comma in the last segment makes the difference.
		const several = { oneOf: [fragmentRef(target), { type: "array", items: fragmentRef(target) }] };
		const schema = target.envelope ? fragmentRef(target) : several;
		const either = json("The layer; of several keys, all of them.", schema);
		return { [`/${target.docs}/{lang}/{smallkeys}`]: read(target, "layers", docs, either) };
	}
	const doc = [ref("parameters", "lang"), ref("parameters", "smallkey")];
	return {
		[`/${target.doc}/{lang}/{smallkey}`]: read(target, "layer", doc, one),
		[`/${target.docs}/{lang}/{smallkeys}`]: read(target, "layers", docs, several),
	};
}

/** What stands in a list for a key among others: its fragment, or what the target says of an unknown one. */
function elementOf(target: Target): Json {
	const absent = target.absent("x", 2);
	if (absent === null) return fragmentRef(target);
	return { oneOf: [fragmentRef(target), absent === "null" ? { type: "null" } : schemaRef(missing)] };
}

function read(target: Target, what: "layer" | "layers", params: Json[], found: Json): Json {
	const several = what === "layers";
	return {
		get: {
			operationId: operationIdOf("read", what, target.name),
			summary: `${several ? "Several layers" : "One layer"} at ${target.name}`,
			tags: ["read"],
			security: [],
			parameters: params,
			responses: {
				200: found,
				304: { description: "As If-None-Match says, it has not changed. No body." },
				400: {
					description: several ? "Another language, or no callback. No body." : "Another language. No body.",
				},
				...(several && target.doc !== target.docs ? {} : { 404: { description: "Not found. No body." } }),
				...(several
					? { 414: { description: "More keys, or a larger answer, than is served. No body." } }
					: {}),
			},
		},
	};
}

/** Words as one name: `readLayerV09`. */
function operationIdOf(...words: string[]): string {
	const [first = "", ...rest] = words.map((word) => word.replaceAll(/[^A-Za-z0-9]/g, ""));
	return first + rest.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("");
}

const smallkeyPattern = "^[A-Za-z0-9_+=-]{1,64}$";

const parameters: Record<string, Json> = {
	...catalogueParameters,
	lang: { name: "lang", in: "path", required: true, schema: { enum: ["en", "fr"] } },
	smallkey: {
		name: "smallkey",
		in: "path",
		required: true,
		schema: { type: "string", pattern: smallkeyPattern },
	},
	smallkeys: {
		name: "smallkeys",
		in: "path",
		required: true,
		description: "Smallkeys with commas between them, at most 1,000.",
		schema: { type: "string" },
	},
	age: {
		name: "age",
		in: "path",
		required: true,
		description: "all, or only what was not harvested for so many days.",
		schema: { type: "string", pattern: "^(?:all|[0-9]{1,5})$" },
	},
	limit: {
		name: "limit",
		in: "path",
		required: true,
		description: "At most so many layers, those first that were not asked for longest.",
		schema: { type: "integer", minimum: 1 },
	},
	callback: {
		name: "callback",
		in: "query",
		description: "Makes the answer a script that calls this function.",
		schema: {
			type: "string",
			maxLength: 128,
			pattern: "^[A-Za-z_$][A-Za-z0-9_$]*(\\.[A-Za-z_$][A-Za-z0-9_$]*)*$",
		},
	},
};

function statusPaths(): Record<string, Json> {
	const refused = (description: string) => json(description, schemaRef(errors));
	const get = {
		operationId: "readStatus",
		summary: "What became of a registration: commit, review, harvest and health",
		tags: ["operate"],
		security: [],
		parameters: [ref("parameters", "smallkey")],
		responses: {
			200: json("How the layer is.", schemaRef(layerStatus)),
			400: refused("The smallkey is wrong."),
			404: refused("Nobody has registered it, or its status is in the catalogue."),
			429: refused("This address asks for too many at once."),
			503: refused("Too many ask."),
		},
	};
	return { "/status/{smallkey}": { get } };
}

function healthPaths(): Record<string, Json> {
	const line = (description: string) => ({
		description,
		content: { "text/plain": { schema: { type: "string" } } },
	});
	const check = (operationId: string, summary: string) => ({
		get: {
			operationId,
			summary,
			tags: ["operate"],
			security: [],
			responses: { 200: line("It is."), 503: line("It is not: the reason in a line.") },
		},
	});
	return {
		"/healthz": check("isAlive", "Whether reads are served"),
		"/readyz": check("isReady", "Whether writes are served too, and the files are in step"),
	};
}
