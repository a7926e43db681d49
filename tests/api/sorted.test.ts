import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { routeOf } from "../../api/app.ts";
import { answerRead } from "../../api/read.ts";
import type { Wanted } from "../../api/wanted.ts";
import { descriptionText } from "../../registry/description.ts";
import type { Fragments } from "../../registry/fragment.ts";
import { descriptionPath } from "../../registry/smallkey.ts";
import { targetNames } from "../../registry/targets/table.ts";
import { listen } from "../helpers/listen.ts";
import { feature, Local, manual, textOf } from "../helpers/local.ts";
import { test } from "../helpers/suite.ts";
import { describedAt } from "../registry/targets/samples.ts";

const settings = { basePath: "", docsMaxKeys: 1000, targets: targetNames };

function wanted(target: string): Wanted {
	const route = routeOf("GET", target, settings);
	if (route.kind !== "docs") throw new Error(`${target} is no list`);
	return route;
}

test("v1 has lists in the order in which they are drawn, and no other target or path has", () => {
	assert.is(wanted("/v1/docs/en/a,b/sort").isSorted, true);
	assert.equal(wanted("/v1/docs/fr/a,%20b/sort?callback=f").items, ["a", "b"]);
	assert.is(wanted("/v1/docs/en/a,b").isSorted, false);
	for (const path of [
		"/v0.9/docs/en/a/sort",
		"/v1/doc/en/a/sort",
		"/v2/docs/en/a/sort",
		"/v1/docs/en/a/other",
	]) {
		const route = routeOf("GET", path, settings);
		assert.equal(route.kind === "refused" && route.reply.status, 404, path);
	}
	for (const path of ["/v1/docs/en/a/b/sort", "/v1/docs/sort"])
		assert.is(routeOf("GET", path, settings).kind, "refused", path);
});

test("lower ranks come first, what has none lies between, and equal ones stay in the order asked for", () => {
	const ranks: Record<string, number> = { point1: 2, polygon2: 0, point2: 2, polygon1: 0, line: 1 };
	const fragments: Fragments = (_target, _lang, smallkey) => {
		const rank = ranks[smallkey];
		const fragment = { body: new TextEncoder().encode(`"${smallkey}"`), etag: smallkey };
		return rank === undefined ? fragment : { ...fragment, rank };
	};
	const keys = "point2,line,polygon2,wms,no key,point1,polygon1,line,point2";
	const answer = (end: string) => textOf(answerRead(wanted(`/v1/docs/en/${keys}${end}`), null, fragments));
	assert.is(answer("/sort"), '["polygon2","polygon1","line","wms",null,"line","point2","point1","point2"]');
	assert.is(answer(""), '["point2","line","polygon2","wms",null,"point1","polygon1","line","point2"]');
});

interface Scene {
	local: Local;
	/** Asks for a sorted list, and returns the smallkeys in the order of the answer. */
	sorted: (keys: string) => Promise<(string | null)[]>;
	end: () => Promise<void>;
}

async function openScene(): Promise<Scene> {
	const local = await Local.open();
	const sorted = async (keys: string) => {
		// A port of its own for each list: after a restart another service answers.
		const { origin, end } = await listen(local);
		const answer = await fetch(`${origin}/v1/docs/en/${keys}/sort`);
		const elements = (await answer.json()) as ({ layers: Record<string, { id: string }[]> } | null)[];
		await end();
		return elements.map((element) => {
			const [node] = Object.values(element?.layers ?? {}).flat();
			return node ? node.id.slice("rcs.".length, -".en".length) : null;
		});
	};
	return { local, sorted, end: () => local.end() };
}

/** Registers a feature layer, and stores its geometry as harvesting does. */
async function describe(local: Local, smallkey: string, geometry_type: string): Promise<void> {
	await local.put(smallkey, feature);
	const description = describedAt(JSON.parse(feature).en.service_url);
	for (const lang of [description.en, description.fr]) Object.assign(lang ?? {}, { geometry_type });
	const edits = [{ path: descriptionPath(smallkey), text: descriptionText(description) }];
	const meta = { smallkey, author: "x", time: local.now, subject: "x", trailers: [], request: null };
	await local.store.change(async () => edits, { ...meta, review: false });
}

test("a running service knows the geometry of what was harvested, after a change and after a restart", async () => {
	const { local, sorted, end } = await openScene();
	try {
		await describe(local, "points", "esriGeometryPoint");
		await describe(local, "many", "esriGeometryMultipoint");
		await describe(local, "areas", "esriGeometryPolygon");
		await local.put("plain", manual);
		const keys = "points,plain,none,many,areas";
		const expected = ["areas", "plain", null, "many", "points"];
		assert.equal(await sorted(keys), expected);
		await local.restart();
		assert.equal(await sorted(keys), expected, "from what the process before kept");
		await local.stop();
		await rm(join(local.folder, "fragments"));
		await local.start();
		assert.equal(await sorted(keys), expected, "where all is rendered again");
		const version = local.publication.table.version();
		await describe(local, "points", "esriGeometryPolygon");
		assert.equal(await sorted(keys), ["points", "areas", "plain", null, "many"]);
		assert.not.equal(local.publication.table.version(), version, "answers that are kept are forgotten");
	} finally {
		await end();
	}
});

test("a sorted list is answered from memory: git is not asked, and nothing waits for it", async () => {
	const { local, sorted, end } = await openScene();
	try {
		await describe(local, "points", "esriGeometryPoint");
		await describe(local, "areas", "esriGeometryPolygon");
		await local.restart();
		await rename(local.repository, `${local.repository}.away`);
		try {
			assert.equal(await sorted("points,areas"), ["areas", "points"]);
		} finally {
			await rename(`${local.repository}.away`, local.repository);
		}
	} finally {
		await end();
	}
});

test.run();
