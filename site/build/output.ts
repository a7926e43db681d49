import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import pMap from "p-map";
import type { Environment } from "../../api/configuration.ts";
import { fragmentHeaders } from "../../api/reply.ts";
import type { Extension } from "../../api/service/extensions.ts";
import { isFolderLocked } from "../../api/service/lock.ts";
import { findSenders } from "../../api/service/senders-file.ts";
import { readConfiguration } from "../../api/service/settings.ts";
import { type Built, build } from "../../publish/build.ts";
import type { Source } from "../../publish/collect.ts";
import { isCompanion, placeFile } from "../../publish/place-file.ts";
import { fragmentFolders } from "../../publish/rendered.ts";
import type { TargetName } from "../../registry/targets/facts.ts";
import { targetOf } from "../../registry/targets/table.ts";
import { counted } from "../../registry/untrusted.ts";
import { ifThere } from "../../store/files/files.ts";
import { brotliParams, catalogueFiles, catalogueFolders, removeCatalogue } from "../data/output.ts";
import { type CatalogueOutcome, updateCatalogue } from "../data/update.ts";
import { siteGroups } from "../http/pages.ts";
import { catalogueOptions, readSite, senderNamesOf } from "../process/site-settings.ts";

/** zlib uses four threads (libuv's pool). */
const maxConcurrent = 8;

const codings: Record<string, (bytes: Uint8Array) => Promise<Buffer>> = {
	".gz": (bytes) => promisify(gzip)(bytes, { level: 9 }),
	".br": (bytes) =>
		promisify(brotliCompress)(bytes, { params: brotliParams(bytes, bytes.length > 16_000 ? 9 : 11) }),
};

/**
 * Cloudflare's `_headers` and `.assetsignore` (Workers, "Static assets", "Headers"); the worker sets the headers of folders.
 * @param compress whether each file gets a `.gz` and a `.br`
 */
export async function writeHostingFiles(
	out: string,
	compress: boolean,
	targets: readonly TargetName[],
	site: boolean,
): Promise<void> {
	const fragments = { paths: targets.map((name) => `/${targetOf(name).doc}/*`), headers: fragmentHeaders };
	// No file may match two rules: Cloudflare joins their values.
	const rules = [fragments, ...(site ? siteGroups : [])].flatMap(({ paths, headers }) => {
		const lines = Object.entries(headers).map(([name, value]) => `  ${name}: ${value}\n`);
		return paths.map((path) => `${path}\n${lines.join("")}`);
	});
	placeFile(out, "_headers", Buffer.from(rules.join("\n")));
	placeFile(out, ".assetsignore", Buffer.from("*.gz\n*.br\n"));
	if (!compress) return;
	for (const folder of [...fragmentFolders(targets), ...(site ? [".", ...catalogueFolders] : [])])
		await compressFiles(out, folder);
}

/** Copies are never outdated: `placeFile` removes those of a file that it changes. */
async function compressFiles(out: string, folder: string) {
	const path = join(out, folder);
	const entries = (await ifThere(path, readdir(path, { withFileTypes: true }))) ?? [];
	const names = new Set(entries.flatMap((entry) => (entry.isFile() ? entry.name : [])));
	const isOwn = (name: string) => folder !== "." || catalogueFiles.includes(name);
	const place = async (name: string) => {
		for (const [ending, code] of Object.entries(codings))
			if (!names.has(name + ending))
				placeFile(out, join(folder, name + ending), await code(await readFile(join(path, name))));
	};
	const plain = [...names].filter((name) => !isCompanion(name) && isOwn(name));
	await pMap(plain, place, { concurrency: maxConcurrent });
}

interface BuildOptions {
	compress?: boolean | undefined;
	extensions?: readonly Extension[];
}

/**
 * The fragments, the catalogue and the hosting's own files. Writes nothing if a layer of a folder is wrong.
 * @throws {Error} with a line for each bad variable
 */
export async function buildOutput(
	source: Source,
	out: string,
	environment: Environment,
	{ compress = false, extensions = [] }: BuildOptions = {},
): Promise<Built & { catalogue: CatalogueOutcome | null }> {
	const configuration = readConfiguration(environment, readSite);
	const { site, targets, dataDir } = configuration;
	const built = await build(source, out, configuration);
	if (!built.written) return { ...built, catalogue: null };
	let catalogue: CatalogueOutcome | null = null;
	if (site) {
		const senders = (await findSenders(environment, dataDir))?.senders ?? new Map();
		const senderNames = senderNamesOf(senders);
		const options = catalogueOptions(configuration, { senderNames, canSend: false });
		catalogue = await updateCatalogue(built.layers, out, options, { extensions, read: built.read });
	} else removeCatalogue(out);
	await writeHostingFiles(out, compress, targets, site);
	return { ...built, catalogue };
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

/** Every build's output has them. */
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
