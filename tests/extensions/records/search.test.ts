import * as assert from "uvu/assert";
import {
	createSearch,
	type ItemsQuery,
	maxSearches,
	parseItemsQuery,
} from "../../../extensions/records/search.ts";
import type { Entry } from "../../../site/data/entries.ts";
import { suite } from "../../helpers/suite.ts";

const test = suite("searches of all records");

const entries: Entry[] = Array.from({ length: 20_000 }, (_, index) => ({
	smallkey: `key${index}`,
	type: "wms",
	title: { en: `Rivers ${index}`, fr: `Rivières ${index}` },
	address: { en: "https://maps.example.ca/wms" },
}));
const all = async () => entries;
const query = (text: string) => parseItemsQuery(text) as ItemsQuery;
const worst = `q=${Array.from({ length: 10 }, (_, index) => `rivers ${index}zzzzzz`).join(",")}`;

test("the largest search of 20,000 layers lets other requests through", async () => {
	const search = createSearch();
	let [turns, isOver] = [0, false];
	const count = () => {
		turns += 1;
		if (!isOver) setImmediate(count);
	};
	setImmediate(count);
	assert.equal(await search(all, query(worst), []), []);
	isOver = true;
	assert.ok(turns > 2, `${turns} turns`);
	assert.equal(await search(async () => entries.slice(0, 8), query("q=rivers 7"), []), [entries[7]]);
});

test("searches wait for each other, and one address leaves room for others", async () => {
	let [running, most] = [0, 0];
	const search = createSearch();
	const load = async () => {
		running += 1;
		most = Math.max(most, running);
		await Promise.resolve();
		running -= 1;
		return entries.slice(0, 10);
	};
	const ask = (text: string, name: string) => search(load, query(`q=${text}`), [name]);
	const flood = Array.from({ length: 100 }, (_, index) => ask(`flood${index}`, "192.0.2.1"));
	const other = ask("rivers 3", "192.0.2.2");
	const answers = await Promise.all(flood);
	assert.is(answers.filter((matches) => matches !== null).length, maxSearches / 8);
	assert.equal((await other)?.length, 1);
	assert.is(most, 1, "one at a time");
	assert.equal(await ask("later", "192.0.2.1"), []);
});

test.run();
