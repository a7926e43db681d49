import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import glob from "fast-glob";
import { cleanEnvironment, packageFolders, root } from "../../../helpers/process.ts";
import type { Files } from "../../../helpers/world.ts";
import { bot, type PeerCheck } from "../approvals/review-peer.ts";
import type { Host } from "./play.ts";
import { makeShims } from "./programs.ts";
import type { World } from "./world.ts";

const key = "the App's private key";
const runToken = "token-of-a-run";

/** What the runs of a world get of GitHub. @param programs address of what their programs call */
export function makeHost({ bare, folder, peer, variables }: World, programs: string): Host {
	let tokens = 0;
	const quiet = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", npm_config_loglevel: "error" };
	// The services of the tests are on this machine.
	const services = { GITHUB_API_URL: peer.url, HARVEST_ALLOW_PRIVATE: "on" };
	const PATH = `${makeShims(folder, programs)}:${process.env.PATH}`;
	return {
		defaultBranch: "main",
		remote: `file://${bare}`,
		folder,
		variables,
		secrets: { review: { WORKFLOW_APP_PRIVATE_KEY: key }, production: {} },
		token: runToken,
		environment: { ...cleanEnvironment({}), PATH, ...services, ...quiet },
		appSlug: bot.replace("[bot]", ""),
		isSecret: (text) => text !== "" && (text.includes(key) || /token-of-the-app-\d+/.test(text)),
		createToken: (app, secret, permissions) => {
			if (app !== "4711" || secret !== key) return null;
			peer.requests.push("GET /repos/maps/layers/installation", "POST /app/installations/1/access_tokens");
			const token = `token-of-the-app-${++tokens}`;
			const mayWrite = Object.keys(permissions).length === 0 || permissions.contents === "write";
			if (mayWrite) writeFileSync(join(bare, "tokens"), `${token}\n`, { flag: "a" });
			return token;
		},
	};
}

/** The checks that the ruleset of the default branch wants of a commit and that have not passed. */
export function obstaclesOf(sha: string, checks: readonly PeerCheck[], appSlug: string): string[] {
	const file = join(root, "deploy/github/layers.json");
	const { rules } = JSON.parse(readFileSync(file, "utf8")) as {
		rules: { type: string; parameters?: never }[];
	};
	const rule = rules.find(({ type }) => type === "required_status_checks")?.parameters as
		| undefined
		| { required_status_checks: { context: string; integration_id: string }[] };
	const apps: Record<string, string> = { WORKFLOW_APP: appSlug, 15368: "github-actions" };
	return (rule?.required_status_checks ?? []).flatMap(({ context, integration_id }) => {
		const isIt = (run: PeerCheck) =>
			run.head_sha === sha && run.name === context && run.app === apps[integration_id];
		const conclusion = checks.findLast(isIt)?.conclusion ?? "missing";
		return ["success", "skipped", "neutral"].includes(conclusion) ? [] : `${context} is ${conclusion}`;
	});
}

/** What the main branch has of this checkout: the workflows and their scripts. CI itself is not played: it passes. */
export async function projectFiles(): Promise<Files> {
	const paths = await glob([".github/**", "deploy/fill-bucket.sh"], { cwd: root, dot: true });
	const copied = paths.map((path): [string, Files[string]] => {
		const text = readFileSync(join(root, path), "utf8");
		return [path, path.endsWith(".sh") ? { executable: text } : text];
	});
	const ci: Files = { ".ci/run": { executable: "#!/bin/sh\necho the project is tested\n" } };
	for (const folder of packageFolders) ci[join(folder, "package.json")] = "{}\n";
	return { ...Object.fromEntries(copied), ...ci, "published.env": "SITE=off\n" };
}
