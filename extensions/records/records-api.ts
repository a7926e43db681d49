/** The media type of `recordsApi`. OWSLib reads only this version of OpenAPI, so that `schemas/openapi.json` is of no use to it. */
export const openApiType = "application/vnd.oai.openapi+json;version=3.0";

const parameters = {
	q: [{ type: "string" }, "rivers,lakes", "Phrases, of which a layer has at least one."],
	bbox: [{ type: "string" }, "-80,40,-70,45", "West, south, east and north, in degrees."],
	ids: [{ type: "string" }, "23ax5t,toporama", "Smallkeys."],
	type: [{ type: "string" }, "wms,feature", "Kinds of layers."],
	datetime: [{ type: "string" }, "2026-01-01/..", "A time or an interval, which every layer matches."],
	limit: [{ type: "integer", minimum: 1, maximum: 1000, default: 10 }, 20, "Most layers in the answer."],
	offset: [{ type: "integer", minimum: 0, default: 0 }, 10, "Number of layers that are left out first."],
} as const;

/** Describes the OGC API in OpenAPI 3.0. @param api address of the API with a slash at its end */
export function recordsApi(about: { title: string; description: string }, api: string): object {
	const operation = (operationId: string, summary: string, type: string, more: readonly object[] = []) => {
		const answer = { description: summary, content: { [type]: { schema: { type: "object" } } } };
		const responses = { 200: answer, ...(more.length > 0 && refusals) };
		return { get: { operationId, summary, ...(more.length > 0 && { parameters: more }), responses } };
	};
	const json = "application/json";
	const geoJson = "application/geo+json";
	const query = Object.entries(parameters).map(([name, [schema, example, description]]) => {
		return { name, in: "query", required: false, description, schema, example };
	});
	const key = { name: "smallkey", in: "path", required: true, schema: { type: "string" } };
	const items = "/collections/layers/items";
	return {
		openapi: "3.0.3",
		info: { ...about, version: "1.0.0" },
		servers: [{ url: api.replace(/\/$/, "") }],
		paths: {
			"/conformance": operation("conformance", "What the API conforms to", json),
			"/collections": operation("collections", "The only collection", json),
			"/collections/layers": operation("layers", "The collection of layers", json),
			[items]: operation("search", "Layers that match a query", geoJson, query),
			[`${items}/{smallkey}`]: operation("layer", "One layer", geoJson, [key]),
		},
	};
}

const refusals = {
	"4XX": {
		description: "The query is wrong, or there is no such layer",
		content: { "application/json": { schema: { type: "object" } } },
	},
};
