import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import Ajv from "ajv";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { temporaryFolder } from "../../local.ts";
import { runScript } from "../../process.ts";

test("the published files refer to each other by their names, and decide as the service does", async () => {
	const { path, remove } = await temporaryFolder();
	const { code } = await runScript("schemas", [
		"--out",
		join(path, "schemas"),
		"--url",
		"https://h.example/base",
	]);
	assert.is(code, 0);
	const names = await readdir(join(path, "schemas"));
	const texts = new Map<string, unknown>();
	for (const name of names) texts.set(name, JSON.parse(await readFile(join(path, "schemas", name), "utf8")));
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
