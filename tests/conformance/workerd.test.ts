import * as assert from "uvu/assert";
import { manual } from "../helpers/handlers.ts";
import { skip, test } from "../helpers/suite.ts";
import { ask, write } from "./client.ts";
import { layers, wmsFragment } from "./engine.ts";
import { workers } from "./engines.ts";

if (workers.missing !== null) skip(`one request of each kind to workerd: ${workers.missing}`);
else {
	test("the worker in its real engine answers reads, and stores a signed write", async () => {
		const { origin, state, stop } = await workers.start(layers);
		try {
			const get = (path: string) => ask(origin, "GET", path);
			const doc = await get("/v0.9/doc/en/23ax5t");
			assert.equal([doc.status, JSON.parse(doc.text)], [200, wmsFragment("23ax5t", "en", "limits")]);
			const list = await get("/v0.9/docs/en/a%2Bb=c,none?callback=f");
			assert.match(list.text, /^\/\*\*\/f\(\[\{.*\},\{"error_code":404,"smallkey":"none"\}\]\);$/);
			for (const [path, status] of Object.entries({
				"/v0.9/doc/en/none": 404,
				"/v0.9/doc/de/none": 400,
				"/healthz": 200,
			}))
				assert.is((await get(path)).status, status, path);
			const before = await state();
			const refused = await write(origin, "PUT", "/register/new", { body: manual, secret: "wrong" });
			assert.equal([refused.status, await state()], [401, before]);
			const stored = await write(origin, "PUT", "/register/new", { body: manual });
			assert.equal([stored.status, JSON.parse(stored.text).commit], [201, await state()]);
			assert.is((await write(origin, "DELETE", "/register/new")).status, 204);
		} finally {
			await stop();
		}
	});
	test.run();
}
