import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { root } from "../helpers/process.ts";

const replacements: readonly { page: string; run: string; why: string }[] = [
	{ page: "<this repository>", run: "/checkout.git", why: "the project as it is in the working tree" },
	{
		page: "curl -s http://127.0.0.1:8080/readyz",
		run: "curl -sf --retry 120 --retry-delay 1 --retry-all-errors http://127.0.0.1:8080/readyz",
		why: "a person waits until the service is ready",
	},
	{
		page: "curl -si http://127.0.0.1/healthz",
		run: "curl -sif --retry 30 --retry-delay 1 --retry-all-errors http://127.0.0.1/healthz",
		why: "a reload of nginx returns before its new processes answer",
	},
	{ page: "git checkout v0.2.0", run: "git checkout -q origin/main", why: "the version that is tried" },
	{ page: "fragments@fragments.example:", run: "fragments@127.0.0.1:", why: "there is one machine" },
];

/** The indented lines and `sh` blocks of a page's section, as a script. @param commit of an earlier version of the page */
export function commandsOf(page: string, heading: string, commit?: string): string {
	const text =
		commit === undefined
			? readFileSync(join(root, page), "utf8")
			: execFileSync("git", ["show", `${commit}:${page}`], { cwd: root, encoding: "utf8" });
	const at = text.indexOf(heading);
	assert.ok(at >= 0, `${page} has no ${heading}`);
	const rest = text.slice(at + heading.length);
	const [section = ""] = rest.split(/^(?:## |\*\*[A-Z])/m, 1);
	const blocks = [...section.matchAll(/^ {4}(\S.*)$|^```sh\n([\s\S]*?)^```$/gm)];
	let script = blocks.map(([, line, block]) => line ?? block).join("\n");
	assert.ok(script.length > 0, `${page}: ${heading} has no command`);
	for (const { page: from, run } of replacements) script = script.replaceAll(from, run);
	return script;
}
