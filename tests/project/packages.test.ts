import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { matchesGlob } from "../../registry/smallkey.ts";
import { packageFolders } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";

/** A package that a lock file names. `license` is an SPDX expression. */
interface Locked {
	license?: string;
	integrity?: string;
	link?: boolean;
}

const readJson = (path: string) => JSON.parse(readFileSync(path, "utf8"));

/** Reviewed by hand: licences of any package, and packages or globs that may have another, and why. */
const { licences, exceptions } = readJson(".github/packages.json") as {
	licences: string[];
	exceptions: Record<string, string>;
};

const packages = packageFolders.flatMap((folder) => {
	const lock = readJson(join(folder, "package-lock.json")) as { packages: Record<string, Locked> };
	return Object.entries(lock.packages)
		.filter(([path, { link }]) => path !== "" && !link)
		.map(([path, locked]) => ({ ...locked, name: path.slice(path.lastIndexOf("node_modules/") + 13) }));
});

/** Whether a licence may be chosen from an expression: `MIT OR GPL-2.0` may, `MIT AND GPL-2.0` may not (SPDX 2.3, annex D). */
function isReviewed(expression: string) {
	const alternatives = expression.replace(/[()]/g, "").split(" OR ");
	return alternatives.some((alternative) =>
		alternative.split(" AND ").every((name) => licences.includes(name.trim())),
	);
}

test("every package has its hash, and a licence that is reviewed", () => {
	assert.ok(packages.length > 100);
	const isExcepted = (name: string) => Object.keys(exceptions).some((glob) => matchesGlob(glob, name));
	const unhashed = packages.filter(({ integrity }) => integrity === undefined).map(({ name }) => name);
	assert.equal(unhashed, []);
	const others = packages.filter(({ name, license = "" }) => !isReviewed(license) && !isExcepted(name));
	const licences = others.map(({ name, license }) => `${name}: ${license}`);
	assert.equal(licences, []);
});

test.run();
