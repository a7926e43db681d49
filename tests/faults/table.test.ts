import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { root } from "../process.ts";
import { faultRow, faultSections, faultsPage, lossRow, type SeenFault } from "./table.mjs";

const fault: SeenFault = {
	section: "disk",
	fault: "full",
	reader: "200",
	publisher: "503: a|b",
	log: ["one", "two"],
};

test("a row is one line of a table, whatever was seen", () => {
	assert.is(faultRow(fault, ["full"]), "| full | 200 | 503: a\\|b | `one`<br>`two` |");
	assert.is(
		faultRow({ ...fault, reader: "a\nb", log: [] }, ["full"]),
		"| full | a b | 503: a\\|b | nothing |",
	);
});

test("the page is the same in whatever order faults were seen, each in its section", () => {
	const other: SeenFault = { ...fault, fault: "another", reader: "404" };
	const power: SeenFault = { ...fault, section: "power", fault: "cut" };
	const page = faultsPage([power, fault, other]);
	assert.is(faultsPage([other, power, fault]), page);
	const at = (text: string) => page.indexOf(text);
	assert.ok(at("## The disk") < at("| another |") && at("| another |") < at("| full |"));
	assert.ok(at("| full |") < at("## Power") && at("## Power") < at("| cut |"));
});

test("faults of which the same was seen share a row", () => {
	const page = faultsPage([fault, { ...fault, fault: "another" }]);
	assert.match(page, "| another; full | 200 | 503: a\\|b | `one`<br>`two` |");
});

test("a loss has a bound in place of its time, which would differ with each run", () => {
	const [loss, lost] = ["a machine", "nothing"];
	assert.is(lossRow({ loss, lost, milliseconds: 10_000 }), "| a machine | nothing | 10 s at most |");
	assert.is(lossRow({ loss, lost, milliseconds: 10_001 }), "| a machine | nothing | 30 s at most |");
	assert.is(lossRow({ loss, lost, milliseconds: 1e9 }), "| a machine | nothing | more than 10 minutes |");
	const page = faultsPage([fault, { loss, lost, milliseconds: 1 }]);
	assert.match(
		page,
		/\(RTO\) \|\n\|---\|---\|---\|\n\| a machine \| nothing \| 10 s at most \|\n\n## The disk/,
	);
});

// The run that writes the page cannot ask for it before.
if (process.env.FAULT_ROWS === undefined)
	test("docs/reliability.md is such a page, with faults of every section", () => {
		const page = readFileSync(join(root, "docs/reliability.md"), "utf8");
		const start = faultsPage([]).split("## ", 1)[0] as string;
		assert.ok(page.startsWith(start), "npm run test:faults writes it");
		const losses = page.split("## Loss and return\n")[1]?.split("\n## ")[0] ?? "";
		assert.is(losses.match(/^\| .* at most \|$/gm)?.length, 3, "three losses were played");
		for (const heading of Object.values(faultSections)) {
			const section = page.split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
			assert.match(section, /\|---\|---\|---\|---\|\n\| \S/, heading);
		}
	});

test.run();
