import { errors, receipt } from "../../schemas/answers.ts";
import { registration } from "../../schemas/registration.ts";
import { json, ref, schemaRef } from "./components.ts";

type Json = unknown;

/** How a write is signed. */
export const securitySchemes: Record<string, Json> = {
	signature: {
		type: "apiKey",
		in: "header",
		name: "Authorization",
		description:
			"HMAC-SHA-256 with the sender's secret of path, sender, TimeStamp and body, one after the other; URL-safe base64 without padding.",
	},
	timestamp: {
		type: "apiKey",
		in: "header",
		name: "TimeStamp",
		description: "ISO 8601, in UTC, within two minutes of the server's time.",
	},
	sender: { type: "apiKey", in: "header", name: "Sender", description: "The sender's id." },
};

const refused = (description: string) => json(description, schemaRef(errors));
const later = (description: string) => ({
	...(refused(description) as object),
	headers: { "Retry-After": { description: "Seconds.", schema: { type: "integer" } } },
});

/** The refusals that writes share. */
export const responses: Record<string, Json> = {
	invalid: refused("The path, the smallkey or the registration is wrong."),
	unauthorized: refused("The signature or the time is wrong, or the signature was used before."),
	forbidden: refused("The sender may not change this key."),
	unknown: refused("The key is not registered."),
	notHarvesting: refused("The service does not harvest."),
	twin: refused("The key differs only in case from a registered one."),
	large: refused("The body is too large."),
	many: later("Too many writes of this address or sender."),
	unavailable: later("The layers cannot be changed now."),
};

const security = [{ signature: [], timestamp: [], sender: [] }];

/** Refusals that every write may meet. */
const common = {
	400: ref("responses", "invalid"),
	401: ref("responses", "unauthorized"),
	413: ref("responses", "large"),
	429: ref("responses", "many"),
	503: ref("responses", "unavailable"),
};

/** Those of a write about one layer. */
const ofOneLayer = { ...common, 403: ref("responses", "forbidden") };

/** Every write: registrations, and what publishers know of the older service. */
export function writePaths(): Record<string, Json> {
	return {
		"/register/{smallkey}": registerPath(""),
		"/v1/register/{smallkey}": registerPath("V1"),
		"/v2/register/{smallkey}": registerPath("V2"),
		...updatePaths(),
		"/v1/update/{age}": refreshPath("refreshV1", [ref("parameters", "age")]),
		"/v2/refresh/{age}": refreshPath("refreshV2", [ref("parameters", "age")]),
		"/v2/refresh/{age}/{limit}": refreshPath("refreshSomeV2", [
			ref("parameters", "age"),
			ref("parameters", "limit"),
		]),
	};
}

function registerPath(suffix: string): Json {
	return {
		parameters: [ref("parameters", "smallkey")],
		put: {
			operationId: `register${suffix}`,
			summary: "Register a layer, or change it",
			tags: ["write"],
			security,
			requestBody: { required: true, content: { "application/json": { schema: schemaRef(registration) } } },
			responses: {
				201: json("Registered. The same registration again is 201 and no new commit.", schemaRef(receipt)),
				...ofOneLayer,
				409: ref("responses", "twin"),
			},
		},
		delete: {
			operationId: `remove${suffix}`,
			summary: "Take a layer away",
			description: "The body is empty.",
			tags: ["write"],
			security,
			responses: {
				202: json("The removal waits for a reviewer.", schemaRef(receipt)),
				204: { description: "Removed. No body." },
				...ofOneLayer,
				404: ref("responses", "unknown"),
			},
		},
	};
}

const key = { type: "string", description: "The smallkey." };
const members = { type: "object", minProperties: 1 };

/** The older service's updates: each merges members into what is stored, and has an answer of its own. */
function updatePaths(): Record<string, Json> {
	const factor = {
		type: "object",
		required: ["factor"],
		properties: { factor: { type: "integer", minimum: 0 }, user: {} },
		additionalProperties: false,
	};
	const update = {
		...members,
		properties: { en: { type: "object" }, fr: { type: "object" } },
		description: "Members of either language or both.",
	};
	const updateFeature = {
		...members,
		description: "Members for both languages, or exactly en and fr with the members of each.",
	};
	const updated = {
		type: "object",
		required: ["msg", "key"],
		properties: { msg: { const: "Updated" }, key },
	};
	return {
		"/v1/updatefeature/{smallkey}": updatePath(
			"updateFeature",
			"Change members of a feature layer",
			updateFeature,
			key,
		),
		"/v1/simplification/{smallkey}": updatePath(
			"simplify",
			"Set how far a feature layer's simplified lines may stray",
			factor,
			key,
		),
		"/v2/update/{smallkey}": updatePath("update", "Change members of a layer", update, updated),
	};
}

function updatePath(operationId: string, summary: string, body: Json, answer: Json): Json {
	return {
		parameters: [ref("parameters", "smallkey")],
		put: {
			operationId,
			summary,
			tags: ["write"],
			security,
			requestBody: { required: true, content: { "application/json": { schema: body } } },
			responses: {
				200: json("Merged into what is stored.", answer),
				202: json("The change waits for a reviewer.", schemaRef(receipt)),
				...ofOneLayer,
				404: ref("responses", "unknown"),
				409: ref("responses", "twin"),
			},
		},
	};
}

function refreshPath(operationId: string, params: Json[]): Json {
	const layers = { type: "integer", description: "How many layers are looked at." };
	return {
		post: {
			operationId,
			summary: "Ask the services of the sender's layers anew",
			description: "The body is empty.",
			tags: ["write"],
			security,
			parameters: params,
			responses: {
				202: json("They are asked.", { type: "object", required: ["layers"], properties: { layers } }),
				...common,
				409: ref("responses", "notHarvesting"),
			},
		},
	};
}
