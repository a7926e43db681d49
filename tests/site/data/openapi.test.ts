import { join } from "node:path";
import { createConfig, lint } from "@redocly/openapi-core";
import Ajv from "ajv";
import * as assert from "uvu/assert";
import { routeOf } from "../../../api/app.ts";
import { recordsRoutes } from "../../../extensions/records/routes.ts";
import { targetNames, targets } from "../../../registry/targets/table.ts";
import { openApiDocument, schemaFiles } from "../../../site/data/openapi.ts";
import { catalogueRoute } from "../../../site/http/catalogue-requests.ts";
import { folderPages } from "../../../site/http/folder-pages.ts";
import { writes } from "../../helpers/handlers.ts";
import { test } from "../../helpers/suite.ts";
import { temporaryFolder, writeFiles } from "../../helpers/world.ts";

interface OpenApi {
	paths: Record<string, Record<string, { operationId: string }>>;
}

const document = openApiDocument(targetNames, "/") as OpenApi;

function example(path: string) {
	return path
		.replace("{lang}", "fr")
		.replace("{smallkeys}", "a,b")
		.replace("{smallkey}", "a")
		.replace("{chunk}", "08-0123456789abcdef.json")
		.replace("{age}", "all")
		.replace("{limit}", "9");
}

test("every operation is a route of the service, and none is named twice", () => {
	const settings = { basePath: "", docsMaxKeys: 1000, targets: targetNames, site: true };
	const catalogue = folderPages("/nowhere");
	const routes = [...recordsRoutes(catalogue), catalogueRoute(catalogue)];
	const all = { writes, routes };
	const ids = new Set<string>();
	const actions = new Set<string>();
	for (const [path, operations] of Object.entries(document.paths)) {
		for (const [method, { operationId }] of Object.entries(operations)) {
			if (method === "parameters") continue;
			const route = routeOf(method.toUpperCase(), example(path), settings, all);
			assert.is.not(route.kind, "refused", `${method} ${path}`);
			if (route.kind === "write") actions.add(route.write.name);
			assert.not(ids.has(operationId), operationId);
			ids.add(operationId);
		}
	}
	assert.equal([...actions].sort(), ["refresh", "register", "remove", "simplify", "update", "updateFeature"]);
	for (const { name, doc, docs } of targets) {
		const folders = new Set([doc, docs]);
		for (const folder of folders) {
			const isOne = folder === doc && folders.size === 2;
			const path = `/${folder}/{lang}/{smallkey${isOne ? "" : "s"}}`;
			assert.ok(path in document.paths, path);
			const without = targetNames.filter((target) => target !== name);
			assert.not.ok(path in (openApiDocument(without, "/") as OpenApi).paths);
		}
	}
});

test("the published files refer to each other, and decide as the service does", async () => {
	const { path, remove } = await temporaryFolder();
	const files = schemaFiles(targetNames, "https://h.example/base");
	writeFiles(path, Object.fromEntries(Array.from(files, ([name, text]) => [`schemas/${name}`, text])));
	const texts = new Map(Array.from(files, ([name, text]) => [name, JSON.parse(text) as unknown]));
	const config = await createConfig({
		extends: ["recommended-strict"],
		rules: {
			// A condition names a member that the schema around it defines.
			"no-required-schema-properties-undefined": "off",
			// Nothing is asked of healthz and readyz that they could refuse.
			"operation-4xx-response": "off",
		},
	});
	const place = join(path, "schemas/openapi.json");
	const faults = async () => {
		const all = await lint({ ref: place, config });
		// Keywords of our own in the schemas: JSON Schema allows them.
		const problems = all.filter(({ message }) => !/`(?:errorMessage|code|onlyOnWrite)`/.test(message));
		return problems.map(
			({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer ?? ""})`,
		);
	};
	assert.equal(await faults(), []);
	await remove();
	const document = texts.get("openapi.json") as { openapi: string; servers: unknown };
	assert.is(document.openapi, "3.1.1");
	assert.equal(document.servers, [{ url: "https://h.example/base" }]);
	const schemas = [...texts].filter(([name]) => name.endsWith(".schema.json"));
	assert.ok(schemas.length >= 12);
	const ajv = new Ajv({ strict: false, validateFormats: false, discriminator: true });
	for (const [name, schema] of schemas) ajv.addSchema(schema as object, name);
	for (const [name] of schemas) assert.ok(ajv.getSchema(name), name);
	const validate = ajv.getSchema("registration.schema.json");
	const entry = { service_url: "https://h.example/", layer: "a" };
	assert.ok(validate?.({ version: "1.0.0", payload_type: "wms", en: entry, fr: entry }));
	assert.not(validate?.({ version: "1.0.0", payload_type: "wms", en: entry }));
});

test.run();
