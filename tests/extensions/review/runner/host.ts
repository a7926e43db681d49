import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import glob from "fast-glob";
import { packageFolders, root } from "../../../helpers/process.ts";
import type { Files } from "../../../helpers/world.ts";
import { bot, type PeerCheck } from "../approvals/review-peer.ts";
import type { Host } from "./play.ts";
import { makeShims } from "./programs.ts";
import type { World } from "./world.ts";

const key = "the App's private key";

/** What the runs of a world get of GitHub. @param programs address of what their programs call */
export function makeHost({ bare, folder, peer, variables }: World, programs: string): Host {
	let tokens = 0;
	return {
		remote: `file://${bare}`,
		folder,
		variables,
		secrets: { review: { WORKFLOW_APP_PRIVATE_KEY: key }, production: {} },
		environment: {
			PATH: `${makeShims(folder, programs)}:${process.env.PATH}`,
			GIT_CONFIG_GLOBAL: "/dev/null",
			GIT_CONFIG_NOSYSTEM: "1",
			GITHUB_API_URL: peer.url,
			// The services of the tests are on this machine.
			HARVEST_ALLOW_PRIVATE: "on",
		},
		appSlug: bot.replace("[bot]", ""),
		isSecret: (text) => text.includes(key) || /token-of-the-app-\d+/.test(text),
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

interface Ruleset {
	rules: { parameters?: { required_status_checks?: { context: string; integration_id: string }[] } }[];
}

/** The checks that the ruleset of the default branch requires of a commit and that have not passed. */
export function obstaclesOf(sha: string, checks: readonly PeerCheck[], appSlug: string): string[] {
	const { rules }: Ruleset = JSON.parse(readFileSync(join(root, "deploy/github/layers.json"), "utf8"));
	const apps: Record<string, string> = { WORKFLOW_APP: appSlug, 15368: "github-actions" };
	const required = rules.flatMap(({ parameters }) => parameters?.required_status_checks ?? []);
	return required.flatMap(({ context, integration_id }) => {
		const isIt = (run: PeerCheck) =>
			run.head_sha === sha && run.name === context && run.app === apps[integration_id];
		const conclusion = checks.findLast(isIt)?.conclusion ?? "missing";
		return ["success", "skipped", "neutral"].includes(conclusion) ? [] : `${context} is ${conclusion}`;
	});
}

/** What the main branch has of this checkout: the workflows and their scripts. The tests of CI are not played: they pass. */
export async function projectFiles(): Promise<Files> {
	const files: Files = { "published.env": "SITE=off\n" };
	files[".ci/run"] = { executable: "#!/bin/sh\necho the project is tested\n" };
	for (const folder of packageFolders) files[join(folder, "package.json")] = "{}\n";
	for (const path of await glob([".github/**", "deploy/fill-bucket.sh"], { cwd: root, dot: true })) {
		const text = readFileSync(join(root, path), "utf8");
		files[path] = path.endsWith(".sh") ? { executable: text } : text;
	}
	return files;
}
