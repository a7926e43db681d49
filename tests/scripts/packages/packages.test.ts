import { test } from "uvu";
import * as assert from "uvu/assert";
import { findAdvisoryProblems, parseAudit } from "../../../scripts/packages/advisories.ts";
import type { Lock } from "../../../scripts/packages/locks.ts";
import {
	findPackageProblems,
	findStaleExceptions,
	isAllowed,
	type Reviewed,
} from "../../../scripts/packages/rules.ts";
import { runScript } from "../../process.ts";

test("all packages have exact versions, hashes and reviewed licences", async () => {
	const { code, stdout, stderr } = await runScript("check-packages", []);
	assert.is(stderr, "");
	assert.match(stdout, /^\d{3} packages, 0 problems\n$/);
	assert.is(code, 0);
});

const reviewed: Reviewed = {
	licences: ["MIT", "ISC"],
	exceptions: { "odd-*": "its readme says MIT" },
	advisories: [],
};

const lock: Lock = {
	folder: "here",
	wanted: new Map([
		["exact", "1.2.3"],
		["pre", "1.0.0-rc.1"],
		["other", "npm:@scope/another@2.0.0"],
		["caret", "^1.2.3"],
		["latest", "latest"],
		["git", "github:a/b"],
	]),
	packages: [
		{ name: "good", version: "1.0.0", licence: "(MIT OR GPL-3.0)", integrity: "sha512-a" },
		{ name: "odd-one", version: "1.0.0", licence: null, integrity: "sha512-a" },
		{ name: "copyleft", version: "1.0.0", licence: "MIT AND GPL-3.0", integrity: "sha512-a" },
		{ name: "silent", version: "1.0.0", licence: null, integrity: null },
	],
};

test("a version that can change, a missing hash and an unknown licence are told", () => {
	assert.equal(findPackageProblems(lock, reviewed), [
		"here: caret: must be an exact version, not ^1.2.3",
		"here: latest: must be an exact version, not latest",
		"here: git: must be an exact version, not github:a/b",
		"here: copyleft@1.0.0: has the licence MIT AND GPL-3.0, which is not reviewed",
		"here: silent@1.0.0: the lock file has no hash of it",
		"here: silent@1.0.0: has the licence of nobody's word, which is not reviewed",
	]);
	assert.equal(findStaleExceptions([lock], reviewed), []);
	assert.match(findStaleExceptions([], reviewed).join(), "the exception odd-* fits no package");
	assert.is(isAllowed("GPL-3.0", new Set(["MIT"])), false);
});

/** As `npm audit --json` of npm 10 prints it. */
const report = JSON.stringify({
	auditReportVersion: 2,
	vulnerabilities: {
		below: {
			name: "below",
			via: [
				{
					name: "below",
					title: "it bends",
					url: "https://github.com/advisories/GHSA-aaaa-bbbb-cccc",
					severity: "high",
				},
			],
		},
		above: { name: "above", via: ["below"] },
	},
});

test("an advisory is a problem, unless it was looked at, and until then only", () => {
	const advisories = parseAudit(report);
	const line = ["below: high: it bends (GHSA-aaaa-bbbb-cccc)"];
	const allowed = { id: "GHSA-aaaa-bbbb-cccc", package: "below", reason: "not reached", until: "2026-06-30" };
	assert.equal(findAdvisoryProblems(advisories, [], "2026-06-01"), line);
	assert.equal(findAdvisoryProblems(advisories, [allowed], "2026-06-30"), []);
	assert.equal(findAdvisoryProblems(advisories, [allowed], "2026-07-01"), line);
	assert.equal(findAdvisoryProblems(advisories, [{ ...allowed, package: "above" }], "2026-06-01"), line);
});

test("a registry that does not answer is no clean report", () => {
	const text = JSON.stringify({ message: "405 Method Not Allowed", error: { summary: "" } });
	assert.throws(() => parseAudit(text), "405 Method Not Allowed");
});

test.run();
