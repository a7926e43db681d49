import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";

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
	environment: Record<string, string>;
}

type Action = (call: ActionCall) => Record<string, string>;

/** actions/checkout v7.0.1. Line numbers are those of its `src` at the pinned commit. */
const checkout: Action = ({ inputs, workspace, ref, sha, remote, environment }) => {
	const git = (...words: string[]) =>
		execFileSync("git", words, { cwd: workspace, env: environment, stdio: "pipe" });
	git("init", "-q");
	git("remote", "add", "origin", remote);
	const branch = /^refs\/heads\/(.*)$/.exec(ref)?.[1];
	const kept = ref.replace(
		/^refs\/(?:heads\/)?/,
		branch === undefined ? "refs/remotes/" : "refs/remotes/origin/",
	);
	// git-command-manager.ts:286-290: no tags but those of a refspec.
	const fetch = ["fetch", "-q", "--no-tags", "--prune", "--no-recurse-submodules"];
	// input-helper.ts:123: one commit, unless the workflow says otherwise.
	const depth = Number(inputs["fetch-depth"] ?? 1);
	if (depth > 0) fetch.push(`--depth=${depth}`);
	// ref-helper.ts:69-77: with the whole history all branches come, and all tags.
	else git(...fetch, "origin", "+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*");
	// git-source-provider.ts:196-200: a branch that has moved meanwhile is fetched again, at the run's commit.
	git(...fetch, "origin", `+${sha}:${kept}`);
	// ref-helper.ts:33-43: a branch of that name, or the merge of a pull request without a branch.
	git("checkout", "-q", "--force", ...(branch === undefined ? [kept] : ["-B", branch, kept]));
	// git-source-provider.ts:319-322: without persist-credentials no token is left for later steps.
	return { commit: sha, ref };
};

/** actions/upload-artifact v7.0.0: `src/upload/upload-artifact.ts`. */
const upload: Action = ({ inputs, workspace, folder, artifacts }): Record<string, string> => {
	const { name = "", path = "" } = inputs;
	const source = join(workspace, path);
	const isFolder = existsSync(source) && statSync(source).isDirectory();
	// upload-artifact.ts:33-51.
	if (!existsSync(source) || (isFolder && readdirSync(source).length === 0)) return {};
	const place = mkdtempSync(join(folder, "artifact-"));
	// src/shared/search.ts:128-152: one file is at the root by its name.
	const to = isFolder ? place : join(place, basename(source));
	cpSync(source, to, { recursive: true, dereference: true });
	artifacts.set(name, place);
	return { "artifact-id": String(artifacts.size) };
};

/** actions/download-artifact v8.0.1: line 94 of `src/download-artifact.ts`. */
const download: Action = ({ inputs: { name = "", path = "." }, workspace, artifacts }) => {
	const place = artifacts.get(name);
	if (place === undefined) throw new Error(`Artifact '${name}' not found`);
	cpSync(place, join(workspace, path), { recursive: true });
	return { "download-path": join(workspace, path) };
};

/** actions/create-github-app-token v3.1.1. */
const createToken: Action = ({ inputs, createToken, appSlug }) => {
	// lib/get-permissions-from-inputs.js:10-24: without an input the token has all permissions of the App.
	const permissions = Object.entries(inputs)
		.filter(([name]) => name.startsWith("permission-"))
		.map(([name, value]) => [name.slice(11), value]);
	const { "client-id": app = "", "private-key": key = "" } = inputs;
	const token = createToken(app, key, Object.fromEntries(permissions));
	if (token === null) throw new Error("A JSON web token could not be decoded");
	// lib/main.js:121-123.
	return { token, "app-slug": appSlug };
};

/** actions/setup-node v7.0.0: this machine's Node is used, whatever the version. */
const setupNode: Action = () => ({});

export const actions: Readonly<Record<string, Action>> = {
	"actions/checkout": checkout,
	"actions/upload-artifact": upload,
	"actions/download-artifact": download,
	"actions/create-github-app-token": createToken,
	"actions/setup-node": setupNode,
};
