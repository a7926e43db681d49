import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { root } from "../helpers/process.ts";

const retry = "--retry 120 --retry-delay 1 --retry-all-errors";

/** What the page has → what is run. */
const replacements: Readonly<Record<string, string>> = {
	// The project as it is in the working tree.
	"<this repository>": "/checkout.git",
	"git checkout v0.2.0": "git checkout -q origin/main",
	// A person waits until the service is ready, or the new processes of nginx answer.
	"curl -s http://127.0.0.1:8080/readyz": `curl -sf ${retry} http://127.0.0.1:8080/readyz`,
	"curl -si http://127.0.0.1/healthz": `curl -sif ${retry} http://127.0.0.1/healthz`,
	// There is one machine.
	"fragments@fragments.example:": "fragments@127.0.0.1:",
};

/** The commands of a page's section, as a script. @param commit of an earlier version of the page */
export function commandsOf(page: string, heading: string, commit?: string) {
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
	for (const [text, run] of Object.entries(replacements)) script = script.replaceAll(text, run);
	return script;
}
