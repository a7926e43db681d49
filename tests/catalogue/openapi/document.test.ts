import { createConfig, lintFromString } from "@redocly/openapi-core";
import Ajv from "ajv/dist/2020.js";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { routeOf } from "../../../api/app.ts";
import { openApiDocument } from "../../../catalogue/openapi/document.ts";
import { targetNames, targets } from "../../../registry/targets/table.ts";

interface Operation {
	operationId: string;
}

interface OpenApi {
	paths: Record<string, Record<string, Operation>>;
	components: { schemas: Record<string, object> };
}

const document = openApiDocument({ version: "1.2.3", targets, url: "/" }) as OpenApi;

test("redocly finds nothing to mend, and would find something", async () => {
	const config = await createConfig({
		extends: ["recommended-strict"],
		rules: {
			// A condition names a member that the schema around it defines.
			"no-required-schema-properties-undefined": "off",
			// Nothing is asked of healthz and readyz that they could refuse.
			"operation-4xx-response": "off",
		},
	});
	const lint = async (source: object) => {
		const problems = await lintFromString({ source: JSON.stringify(source), config });
		return problems.map(
			({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer ?? ""})`,
		);
	};
	assert.equal(await lint(document), []);
	const broken = JSON.parse(JSON.stringify(document));
	broken.paths["/register/{smallkey}"].put.responses[401].$ref = "#/components/responses/none";
	assert.ok((await lint(broken)).length > 0);
});

/** A request of a path of the document. */
function example(path: string): string {
	return path
		.replace("{lang}", "fr")
		.replace("{smallkeys}", "a,b")
		.replace("{smallkey}", "a")
		.replace("{piece}", "8")
		.replace("{commits}", "0")
		.replace("{age}", "all")
		.replace("{limit}", "9");
}

test("every operation is a route of the service, and none is named twice", () => {
	const settings = { basePath: "", docsMaxKeys: 1000, targets: targetNames, site: true };
	const ids = new Set<string>();
	const actions = new Set<string>();
	for (const [path, operations] of Object.entries(document.paths)) {
		for (const [method, { operationId }] of Object.entries(operations)) {
			if (method === "parameters") continue;
			const route = routeOf(method.toUpperCase(), example(path), settings);
			assert.is.not(route.kind, "refused", `${method} ${path}`);
			if (route.kind === "write") actions.add(route.action);
			assert.not(ids.has(operationId), operationId);
			ids.add(operationId);
		}
	}
	assert.equal([...actions].sort(), ["refresh", "register", "remove", "simplify", "update", "updateFeature"]);
	assert.ok(ids.size >= 4 + 2 * targets.length - 1);
});

test("what it says of a registration is what the service's own schemas say", () => {
	const ajv = new Ajv({ strict: false, allErrors: true });
	const validate = ajv.compile({
		$ref: "#/components/schemas/registration",
		components: document.components,
	});
	const entry = { service_url: "https://h.example/", layer: "a" };
	const node = { service_url: "https://h.example/", service_type: "ogcWms", scrape_only: ["a"] };
	const good = { version: "1.0.0", payload_type: "wms", en: entry, fr: entry };
	assert.ok(validate(good), JSON.stringify(validate.errors));
	assert.ok(validate({ version: "2.0", en: node, fr: node }), JSON.stringify(validate.errors));
	assert.not(validate({ ...good, payload_type: "feature" }));
	assert.not(validate({ ...good, en: { ...entry, service_name: "<b>" } }));
	assert.not(validate({ version: "2.0", en: node, fr: { ...node, tolerance: 1 } }));
	assert.not(validate({ version: "2.0", en: entry, fr: entry }));
});

test.run();
