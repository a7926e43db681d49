import { catalogueOptions } from "../catalogue/options.ts";
import { hasCatalogue, removeCatalogue } from "../catalogue/output.ts";
import { catalogueSource } from "../catalogue/source.ts";
import { bringCatalogue, type CatalogueOutcome } from "../catalogue/update.ts";
import { type Built, build, type Source } from "../publish/build.ts";
import { readPublicNames } from "../service/senders-file.ts";
import { type Environment, readConfiguration, withoutStore } from "../service/settings.ts";
import { counted } from "../terminal/plain.ts";
import { writeHostingFiles } from "./files.ts";

/** How an output is built. */
export interface OutputOptions {
	/** Whether every file is looked at again, whatever the last build noted of them. */
	fresh?: boolean | undefined;
	/** Whether a `.gz` and a `.br` stand beside each file. */
	compress?: boolean | undefined;
}

/** What was built; of the catalogue null where it is left out. */
export interface BuiltOutput extends Built {
	catalogue: CatalogueOutcome | null;
}

/**
 * Everything that a hosting serves, from one commit or folder: the fragments, the catalogue beside them (not with
 * `SITE=off`), and what hosting needs to know of them. Nothing is written where a layer is wrong.
 * @throws {Error} with a line for each bad variable
 */
export async function buildOutput(
	source: Source,
	out: string,
	environment: Environment,
	{ fresh, compress = false }: OutputOptions = {},
): Promise<BuiltOutput> {
	const configuration = readConfiguration(withoutStore(environment));
	const built = await build(source, out, configuration, fresh);
	if (!built.written) return { ...built, catalogue: null };
	const catalogue = configuration.site ? await buildCatalogueFiles() : null;
	if (!configuration.site && hasCatalogue(out)) removeCatalogue(out);
	await writeHostingFiles(out, compress, configuration.targets, configuration.site);
	return { ...built, catalogue };

	async function buildCatalogueFiles(): Promise<CatalogueOutcome> {
		const senderNames = await readPublicNames(environment, configuration.dataDir);
		const options = catalogueOptions(configuration, { senderNames, canSend: false, isCompressed: false });
		return bringCatalogue(await catalogueSource(source, out), out, options, fresh);
	}
}

/** `22 layers in the catalogue: 51 files written, 0 removed` */
export function catalogueLine({ layers, written, removed }: CatalogueOutcome): string {
	return `${counted(layers, "layer")} in the catalogue: ${counted(written, "file")} written, ${removed} removed`;
}
