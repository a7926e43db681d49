import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import glob from "fast-glob";
import { matchesGlob } from "../../../../registry/sender.ts";

export interface ActionCall {
	inputs: Record<string, string>;
	workspace: string;
	ref: string;
	sha: string;
	remote: string;
	folder: string;
	artifacts: Map<string, string>;
	/** Null if the App or its key is wrong. */
	createToken: (app: string, key: string, permissions: Record<string, string>) => string | null;
	appSlug: string;
	environment: NodeJS.ProcessEnv;
}

type Action = (call: ActionCall) => Record<string, string>;

/** actions/checkout v7.0.1. Line numbers are those of its `src` at the pinned commit. */
const checkout: Action = ({ inputs, workspace, ref, sha, remote, environment }) => {
	const git = (...words: string[]) =>
		execFileSync("git", words, { cwd: workspace, env: environment, stdio: "pipe" });
	git("init", "-q");
	git("remote", "add", "origin", remote);
	// input-helper.ts:123: one commit, unless the workflow says otherwise.
	const depth = Number(inputs["fetch-depth"] ?? 1);
	const branch = /^refs\/heads\/(.*)$/.exec(ref)?.[1];
	const pull = /^refs\/pull\/(.*)$/.exec(ref)?.[1];
	const kept = branch === undefined ? `refs/remotes/pull/${pull}` : `refs/remotes/origin/${branch}`;
	// git-command-manager.ts:286-290: no tags but those of a refspec.
	const fetch = ["fetch", "-q", "--no-tags", "--prune", "--no-recurse-submodules"];
	if (depth > 0) git(...fetch, `--depth=${depth}`, "origin", `+${sha}:${kept}`);
	else {
		// ref-helper.ts:69-77: with the whole history all branches come, and all tags.
		const all = ["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"];
		git(...fetch, "origin", ...all, ...(pull === undefined ? [] : [`+${sha}:${kept}`]));
		// git-source-provider.ts:196-200: a branch that has moved meanwhile is fetched again, at the run's commit.
		git(...fetch, "origin", `+${sha}:${kept}`);
	}
	// ref-helper.ts:33-43: a branch of that name, or the merge of a pull request without a branch.
	if (branch === undefined) git("checkout", "-q", "--force", kept);
	else git("checkout", "-q", "--force", "-B", branch, kept);
	// git-source-provider.ts:319-322: without persist-credentials no token is left for later steps.
	return { commit: sha, ref };
};

/** actions/upload-artifact v7.0.0: `src/shared/search.ts` and `src/upload/upload-artifact.ts`. */
const upload: Action = ({ inputs, workspace, folder, artifacts }): Record<string, string> => {
	const name = inputs.name ?? "artifact";
	const source = join(workspace, inputs.path ?? "");
	const isFolder = existsSync(source) && statSync(source).isDirectory();
	// search.ts:17-24: hidden files are left out unless the workflow wants them.
	const options = { cwd: source, absolute: true, followSymbolicLinks: true };
	const files = isFolder ? glob.sync("**", options) : existsSync(source) ? [source] : [];
	// upload-artifact.ts:33-51.
	if (files.length === 0) return {};
	// search.ts:128-152: one file is at the root by its name.
	const root = isFolder ? source : dirname(source);
	if (artifacts.has(name)) throw new Error(`an artifact with the name ${name} exists (409 Conflict)`);
	const place = mkdtempSync(join(folder, "artifact-"));
	for (const file of files) cpSync(file, join(place, relative(root, file)), { dereference: true });
	artifacts.set(name, place);
	return { "artifact-id": String(artifacts.size) };
};

/** actions/download-artifact v8.0.1: `src/download-artifact.ts`. */
const download: Action = ({ inputs, workspace, artifacts }) => {
	const { name, pattern = "*", path = "." } = inputs;
	const isMerged = inputs["merge-multiple"] === "true";
	// Line 94: a name that is not there is an error; 157-162: a pattern that matches nothing is not.
	if (name !== undefined && !artifacts.has(name)) throw new Error(`Artifact '${name}' not found`);
	const chosen = [...artifacts].filter(([artifact]) => matchesGlob(name ?? pattern, artifact));
	for (const [artifact, place] of chosen) {
		// Lines 189-194: one artifact comes flat, several get a folder each unless they are merged.
		const isFlat = isMerged || chosen.length === 1;
		const target = join(workspace, path, isFlat ? "" : artifact);
		mkdirSync(target, { recursive: true });
		for (const file of readdirSync(place)) cpSync(join(place, file), join(target, file), { recursive: true });
	}
	return { "download-path": join(workspace, path) };
};

/** actions/create-github-app-token v3.1.1. */
const createToken: Action = ({ inputs, createToken, appSlug }) => {
	// main.js:21-23.
	const app = inputs["client-id"] ?? "";
	if (app === "") throw new Error("The 'client-id' input must be set to a non-empty string.");
	// lib/get-permissions-from-inputs.js:10-24: without an input the token has all permissions of the App.
	const permissions = Object.entries(inputs)
		.filter(([name]) => name.startsWith("permission-"))
		.map(([name, value]) => [name.slice(11), value]);
	const token = createToken(app, inputs["private-key"] ?? "", Object.fromEntries(permissions));
	if (token === null) throw new Error("A JSON web token could not be decoded");
	// lib/main.js:121-123.
	return { token, "installation-id": "1", "app-slug": appSlug };
};

/** actions/setup-node v7.0.0: this machine's Node is used, whatever the version. */
const setupNode: Action = ({ inputs }) => ({ "node-version": inputs["node-version"] ?? "" });

export const actions: Readonly<Record<string, Action>> = {
	"actions/checkout": checkout,
	"actions/upload-artifact": upload,
	"actions/download-artifact": download,
	"actions/create-github-app-token": createToken,
	"actions/setup-node": setupNode,
};
