import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startWords } from "../../process.ts";

/** Runs a command of the project as the tests have compiled it; without its packages npx would ask the registry. */
const npx = (words: readonly string[]) => `#!/bin/sh
if [ "$1" != fragments ] || [ ! -e node_modules/.installed ]; then echo "npx: no package $1 in this checkout" >&2; exit 1; fi
shift
exec ${words.join(" ")} "$@"
`;

/** Installs nothing: only that it was asked for is seen. */
const npm = `#!/bin/sh
case "$1" in
	ci) test -e package.json && mkdir -p node_modules && touch node_modules/.installed ;;
	*) echo "npm $1: is not played" >&2; exit 1 ;;
esac
`;

/** Hands its words to the GitHub of the tests, and its answer to jq where the words ask for that. */
const gh = `#!/usr/bin/env node
const { spawnSync } = require("node:child_process");
const { existsSync, readFileSync } = require("node:fs");
const words = process.argv.slice(2);
const after = (name) => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
const { GITHUB_API_URL, GH_TOKEN } = process.env;
const body = after("--body-file");
const sent = { words, token: GH_TOKEN, body: body && existsSync(body) ? readFileSync(body, "utf8") : null };
fetch(GITHUB_API_URL + "/gh", { method: "POST", body: JSON.stringify(sent) }).then(async (answer) => {
	const text = await answer.text();
	if (!answer.ok) { console.error("gh: " + text); process.exit(1); }
	if (after("--jq") === undefined) { if (text !== "null") console.log(text); return; }
	const ended = spawnSync("jq", ["--raw-output", after("--jq")], { input: text, stdio: ["pipe", "inherit", "inherit"] });
	process.exit(ended.status);
});
`;

/** Only a token that may write contents pushes; the tests' own pushes have one, too. */
export const updateHook = `#!/bin/sh
if [ -e "$GIT_DIR/meanwhile" ]; then mv "$GIT_DIR/meanwhile" "$GIT_DIR/done"; . "$GIT_DIR/done"; fi
grep --quiet --line-regexp --fixed-strings -- "\${GH_TOKEN:-none}" "$GIT_DIR/tokens" && exit 0
echo "remote: Permission to maps/layers.git denied" >&2
exit 1
`;

/** Makes the programs that stand for those of GitHub's machines. @returns the folder for PATH */
export function makeShims(folder: string): string {
	const bin = join(folder, "bin");
	mkdirSync(bin);
	const programs = { npx: npx([process.execPath, ...startWords("").filter(Boolean)]), npm, gh };
	for (const [name, text] of Object.entries(programs)) {
		writeFileSync(join(bin, name), text);
		chmodSync(join(bin, name), 0o755);
	}
	return bin;
}
