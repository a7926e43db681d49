import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Ended, root, runScript } from "../../process.ts";
import { type JsonServer, startJsonServer } from "../../scripts/json-server.ts";

/** How a job has called a program. */
export interface Call {
	cwd: string;
	env: Record<string, string>;
	words: string[];
	/** File with its standard input; empty where it read none. */
	input: string;
}

/** Answers a call of `gh` other than `gh api`: its output as JSON. @throws {Error} if GitHub would refuse it */
export type AnswerGh = (words: readonly string[], body: string | null) => unknown;

/** Hands its words to the tests' process: Node and the project's modules start once for all jobs. */
const shim = (url: string, name: string) => `#!/bin/sh
input=
case " $* " in *" --input - "*) input=$RUNNER_TEMP/input.$$; cat > "$input" ;; esac
ended=$RUNNER_TEMP/ended.$$
printf '%s\\036' "$@" |
	jq --raw-input --slurp --compact-output --arg cwd "$PWD" --arg input "$input" \\
		'{cwd: $cwd, env: env, input: $input, words: split("\\u001e")[:-1]}' |
	curl --silent --show-error --noproxy '*' --data-binary @- ${url}/${name} > "$ended"
jq --join-output .stderr "$ended" >&2
jq --join-output .stdout "$ended"
exit "$(jq .code "$ended")"
`;

/** Installs nothing: only that it was asked for is seen. */
const npm = `#!/bin/sh
case "$1" in
	ci)
		while [ $# -gt 1 ] && [ "$1" != --prefix ]; do shift; done
		cd "\${2:-.}" && test -e package.json && mkdir -p node_modules && touch node_modules/.installed ;;
	*) echo "npm $1: is not played" >&2; exit 1 ;;
esac
`;

/** Runs a file of this checkout's, by way of tsx: a job's checkout has no code. */
const node = `#!/bin/sh
file=$1
shift
exec '${process.execPath}' --import '${pathToFileURL(join(root, "node_modules/tsx/dist/loader.mjs"))}' '${root}'"$file" "$@"
`;

/** Only a token that may write contents pushes; the tests' own pushes have one, too. */
export const updateHook = `#!/bin/sh
if [ -e "$GIT_DIR/meanwhile" ]; then mv "$GIT_DIR/meanwhile" "$GIT_DIR/done"; . "$GIT_DIR/done"; fi
grep --quiet --line-regexp --fixed-strings -- "\${GH_TOKEN:-none}" "$GIT_DIR/tokens" && exit 0
echo "remote: Permission to maps/layers.git denied" >&2
exit 1
`;

const failed = (stderr: string): Ended => ({ code: 1, stdout: "", stderr: `${stderr}\n` });

/** The commands that run: each needs the folder of this process. */
let running: Promise<unknown> = Promise.resolve();

/** Runs a command of the project. Without its packages npx would ask the registry. */
async function npx({ cwd, env, words: [name, command = "", ...words] }: Call): Promise<Ended> {
	if (name !== "fragment-publisher" || !existsSync(join(cwd, "node_modules/.installed")))
		return failed(`npx: no package ${name} in this checkout`);
	// It would need a browser; the workflows go on without pictures.
	if (command === "prove") return failed("npx fragment-publisher prove: is not played");
	const run = async () => {
		process.chdir(cwd);
		return runScript(command, words, env).finally(() => process.chdir(root));
	};
	const ended = running.then(run);
	running = ended.catch(() => undefined);
	return ended;
}

async function gh({ cwd, env, words, input }: Call, answer: AnswerGh): Promise<Ended> {
	const after = (name: string) => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
	let text: string;
	if (words[0] === "api") {
		const path = words.find((word) => /^(?:repos|orgs)\//.test(word));
		const headers = { authorization: `token ${env.GH_TOKEN}` };
		const body = input === "" ? null : readFileSync(input, "utf8");
		const init = { method: after("--method") ?? "GET", headers, body };
		const answered = await fetch(`${env.GITHUB_API_URL}/${path}`, init);
		text = await answered.text();
		if (!answered.ok) return failed(`gh: ${text}`);
	} else {
		const file = after("--body-file");
		try {
			text = JSON.stringify(answer(words, file ? readFileSync(resolve(cwd, file), "utf8") : null));
		} catch (error) {
			return failed(`gh: ${(error as Error).message}`);
		}
	}
	const program = after("--jq") ?? (words.includes("--silent") || text === "null" ? "empty" : ".");
	return {
		code: 0,
		stdout: execFileSync("jq", ["--raw-output", program], { input: text, encoding: "utf8" }),
		stderr: "",
	};
}

/** Starts what the programs of the jobs call. */
export function startPrograms(answer: AnswerGh): Promise<JsonServer> {
	return startJsonServer(async ({ path, body }) => {
		const call = body as unknown as Call;
		return { status: 200, body: await (path === "/npx" ? npx(call) : gh(call, answer)) };
	});
}

/** Makes the programs that stand for those of GitHub's machines. @returns the folder for PATH */
export function makeShims(folder: string, url: string): string {
	const bin = join(folder, "bin");
	mkdirSync(bin);
	for (const [name, text] of Object.entries({ npx: shim(url, "npx"), npm, node, gh: shim(url, "gh") })) {
		writeFileSync(join(bin, name), text);
		chmodSync(join(bin, name), 0o755);
	}
	return bin;
}
