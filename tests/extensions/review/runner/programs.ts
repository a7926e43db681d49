import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Ended, root, runScript } from "../../../helpers/process.ts";
import { writeFiles } from "../../../helpers/world.ts";
import { type JsonServer, startJsonServer } from "../../../scripts/json-server.ts";

interface Call {
	cwd: string;
	env: Record<string, string>;
	words: string[];
	/** Its standard input; null where it read none. */
	input: string | null;
}

/** Answers a call of `gh` other than `gh api`: its output as JSON. @throws {Error} if GitHub would refuse it */
type AnswerGh = (words: readonly string[], body: string | null) => unknown;

/**
 * Hands its words to the tests' process: Node and the project's modules start once for all jobs. What is called, and what is
 * answered, are files in a folder: jq takes 20 ms to start.
 */
const shim = (url: string) => `#!/bin/sh
call=$RUNNER_TEMP/call.$$
mkdir "$call"
case " $* " in *" --input - "*) cat > "$call/input" ;; esac
pwd > "$call/cwd"
env -0 > "$call/env"
printf '%s\\0' "$@" > "$call/words"
code=$(curl --silent --show-error --noproxy '*' --data "\\"$call\\"" ${url})
cat "$call/stderr" >&2
cat "$call/stdout"
exit "$code"
`;

function readCall(folder: string): Call {
	const read = (name: string) => readFileSync(join(folder, name), "utf8");
	const list = (name: string) => read(name).split("\0").slice(0, -1);
	const env = list("env").map((line) => line.split(/=(.*)/s).slice(0, 2));
	const input = existsSync(join(folder, "input")) ? read("input") : null;
	return { cwd: read("cwd").trimEnd(), env: Object.fromEntries(env), words: list("words"), input };
}

/** Installs nothing: only that it was asked for is seen. */
const npm = `#!/bin/sh
case "$1" in
	ci)
		while [ $# -gt 1 ] && [ "$1" != --prefix ]; do shift; done
		cd "\${2:-.}" && test -e package.json && mkdir -p node_modules && touch node_modules/.installed ;;
	*) echo "npm $1: is not played" >&2; exit 1 ;;
esac
`;

/** Debian's packages are there already. */
const sudo = '#!/bin/sh\ntest "$1" = apt-get\n';

/** Only a token that may write contents pushes; the tests' own pushes have one, too. */
export const updateHook = `#!/bin/sh
grep --quiet --line-regexp --fixed-strings -- "\${GH_TOKEN:-none}" "$GIT_DIR/tokens" && exit 0
echo "remote: Permission to maps/layers.git denied" >&2
exit 1
`;

/** The commands that run: each needs the folder of this process. */
let running: Promise<unknown> = Promise.resolve();

/** Runs a command of the project. Without its packages npx would ask the registry. */
async function npx({ cwd, env, words: [name, command = "", ...words] }: Call): Promise<Ended> {
	if (name !== "fragment-publisher" || !existsSync(join(cwd, "node_modules/.installed")))
		throw new Error(`no package ${name} in this checkout`);
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
	const file = after("--body-file");
	const text =
		words[0] === "api"
			? await ghApi(words, env, input)
			: JSON.stringify(answer(words, file ? readFileSync(resolve(cwd, file), "utf8") : null));
	const program = after("--jq");
	const isEmpty = words.includes("--silent") || text === "null";
	const shown = program
		? execFileSync("jq", ["-rc", program], { input: text, env, encoding: "utf8" })
		: `${text}\n`;
	return { code: 0, stdout: isEmpty ? "" : shown, stderr: "" };
}

async function ghApi(words: readonly string[], env: Call["env"], input: string | null): Promise<string> {
	const path = words.find((word) => /^(?:repos|orgs)\//.test(word));
	const fields = words.filter((_, index) => words[index - 1] === "--raw-field");
	const texts = fields.map((field) => field.split(/=(.*)/s).slice(0, 2));
	const body = input ?? (texts.length > 0 ? JSON.stringify(Object.fromEntries(texts)) : null);
	const isNamed = words.includes("--method");
	const method = isNamed ? words[words.indexOf("--method") + 1] : body === null ? "GET" : "POST";
	const headers = { authorization: `token ${env.GH_TOKEN}` };
	const answered = await fetch(`${env.GITHUB_API_URL}/${path}`, { method, headers, body });
	const text = await answered.text();
	if (!answered.ok) throw new Error(text);
	return text;
}

export function startPrograms(answer: AnswerGh): Promise<JsonServer> {
	return startJsonServer(async ({ path, body }) => {
		const folder = body as unknown as string;
		const call = readCall(folder);
		const ending = path === "/npx" ? npx(call) : gh(call, answer);
		const failed = ({ message }: Error): Ended => ({ code: 1, stdout: "", stderr: `${path}: ${message}\n` });
		const { code, stdout, stderr } = await ending.catch(failed);
		writeFileSync(join(folder, "stdout"), stdout);
		writeFileSync(join(folder, "stderr"), stderr);
		return { status: 200, body: code };
	});
}

/** Makes the programs that stand for those of GitHub's machines. @returns the folder for PATH */
export function makeShims(folder: string, url: string): string {
	const programs = { npx: shim(`${url}/npx`), gh: shim(`${url}/gh`), npm, sudo };
	for (const [name, executable] of Object.entries(programs))
		writeFiles(folder, { [`bin/${name}`]: { executable } });
	return join(folder, "bin");
}
