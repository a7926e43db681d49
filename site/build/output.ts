import { createHash } from "node:crypto";
import { readdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import pMap from "p-map";
import type { Extension } from "../../api/service/extensions.ts";
import { isFolderLocked } from "../../api/service/lock.ts";
import { readPublicNames } from "../../api/service/senders-file.ts";
import { readConfiguration, withoutStore } from "../../api/service/settings.ts";
import { type Built, build } from "../../publish/build.ts";
import type { Source } from "../../publish/collect.ts";
import { placeFile } from "../../publish/place-file.ts";
import type { Environment } from "../../registry/environment.ts";
import { counted } from "../../registry/untrusted-text.ts";
import { filesBelow } from "../../store/files/files.ts";
import { catalogueOptions } from "../data/options.ts";
import { removeCatalogue } from "../data/output.ts";
import { type CatalogueOutcome, updateCatalogue } from "../data/update.ts";
import { readSite } from "../process/site-settings.ts";
import { writeHostingFiles } from "./files.ts";

export interface BuildOptions {
	/** Compares also files that the last build recorded as complete. */
	fresh?: boolean | undefined;
	compress?: boolean | undefined;
	extensions?: readonly Extension[];
}

/**
 * The fragments, the catalogue (unless `SITE=off`) and the hosting's own files. Writes nothing if a layer of
 * a folder is wrong.
 * @throws {Error} with a line for each bad variable
 */
export async function buildOutput(
	source: Source,
	out: string,
	environment: Environment,
	{ fresh, compress = false, extensions = [] }: BuildOptions = {},
): Promise<Built & { catalogue: CatalogueOutcome | null }> {
	const configuration = readConfiguration(withoutStore(environment), readSite);
	const { site, targets, dataDir } = configuration;
	const built = await build(source, out, configuration, fresh);
	let catalogue: CatalogueOutcome | null = null;
	if (!built.written) return { ...built, catalogue };
	if (site) {
		const senderNames = await readPublicNames(environment, dataDir);
		const options = catalogueOptions(configuration, { senderNames, canSend: false, isCompressed: false });
		catalogue = await updateCatalogue(built.layers, out, options, { fresh, extensions });
	} else removeCatalogue(out);
	await writeHostingFiles(out, compress, targets, site);
	return { ...built, catalogue };
}

/** `22 layers in the catalogue: 51 files written, 0 removed` */
export function catalogueLine({ layers, written, removed }: CatalogueOutcome): string {
	return `${counted(layers, "layer")} in the catalogue: ${counted(written, "file")} written, ${removed} removed`;
}

/** @throws {Error} with a line for each problem, if a layer is wrong */
export async function buildFolder(
	folder: string,
	out: string,
	environment: Environment,
	options: BuildOptions = {},
): Promise<void> {
	const { problems, written } = await buildOutput({ folder }, out, environment, options);
	if (written) return;
	throw new Error([...problems, `${counted(problems.length, "problem")}; nothing was written`].join("\n"));
}

/** Every build's output has them, and hardly any other folder. */
const marks = ["v0.9", "_headers"];

/** @throws {Error} if a running service writes the folder, or it has files that are not a build's */
export async function checkOutput(out: string): Promise<void> {
	if (await isFolderLocked(dirname(out))) {
		throw new Error(`--out: a service runs on ${dirname(out)}, and writes ${out} itself`);
	}
	const names = await readdir(out).catch((error: NodeJS.ErrnoException): string[] => {
		if (error.code === "ENOENT") return [];
		throw new Error(`--out: ${out} must be a folder`, { cause: error });
	});
	if (names.length === 0 || marks.some((name) => names.includes(name))) return;
	throw new Error(
		`--out: ${join(out, names[0] as string)} is from no build; name an empty folder, or the output of an earlier build`,
	);
}

/**
 * Replaces the `manifest.json` of an earlier build: path → SHA-256 of every other file, sorted by path, so
 * that the same files give the same bytes.
 * @param isWanted otherwise the earlier one is only removed
 */
export async function updateChecksums(out: string, isWanted = false): Promise<void> {
	const manifestName = "manifest.json";
	await rm(join(out, manifestName), { force: true });
	if (!isWanted) return;
	const paths = filesBelow(out).sort();
	const hashOf = async (path: string) => {
		const bytes = await readFile(join(out, path));
		return [path, createHash("sha256").update(bytes).digest("hex")];
	};
	const files = Object.fromEntries(await pMap(paths, hashOf, { concurrency: 16 }));
	const text = JSON.stringify({ algorithm: "sha256", files }, null, "\t");
	placeFile(out, manifestName, Buffer.from(`${text}\n`));
}
