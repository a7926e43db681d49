import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Command, Option, type OptionValues } from "@commander-js/extra-typings";
import type { Source } from "../publish/collect.ts";

/** `--layers`: a folder of layers instead of this checkout's. */
export const layersOption = new Option(
	"--layers <dir>",
	"a folder of layers (layers of this checkout)",
).conflicts("repo");

/** `--repo`: layers of a git repository, such as that of a running service. */
export const repoOption = new Option(
	"--repo <dir>",
	"a git repository instead, such as DATA_DIR/repository.git of a running service",
);

/** `--ref`: which commit of the repository. */
export const refOption = new Option("--ref <ref>", "its commit (the branch main)");

/** Adds `--layers`, `--repo` and `--ref` to a command line. */
export function withSource<Args extends unknown[], Options extends OptionValues>(
	line: Command<Args, Options>,
) {
	return line.addOption(layersOption).addOption(repoOption).addOption(refOption);
}

interface SourceOptions {
	layers?: string | undefined;
	repo?: string | undefined;
	ref?: string | undefined;
}

/**
 * Turns the options into the source of layers.
 * @returns the source, and its name for messages: `layers/ of this checkout`
 * @throws {Error} if the options contradict each other
 */
export function nameSource({ layers, repo, ref }: SourceOptions): { source: Source; name: string } {
	if (ref !== undefined && repo === undefined) throw new Error("--ref: is for --repo");
	if (repo !== undefined) {
		const name = `${ref ?? "the branch main"} of the repository ${repo}`;
		return { source: { repository: repo, ref: ref ?? "refs/heads/main" }, name };
	}
	if (layers !== undefined) return { source: { folder: layers }, name: layers };
	return { source: { folder: "layers" }, name: "layers/ of this checkout" };
}

/**
 * The folder of layers in which a command changes files.
 * @throws {Error} if the repository has no such folder: a bare repository is changed only by its service
 */
export function workingFolder({ layers, repo }: SourceOptions): string {
	if (repo === undefined) return layers ?? "layers";
	const folder = join(repo, "layers");
	if (existsSync(folder)) return folder;
	throw new Error(
		`--repo: ${repo} has no folder layers to write to; the service on a bare repository harvests by itself`,
	);
}
