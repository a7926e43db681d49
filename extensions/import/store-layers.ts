import { type Io, WrongError } from "../../api/configuration.ts";
import { putEdits } from "../../api/register.ts";
import { openStore, repositoryPath } from "../../api/service/data-dir.ts";
import type { Configuration } from "../../api/service/settings.ts";
import { collectSource } from "../../publish/collect.ts";
import { type Description, parseDescription } from "../../registry/description.ts";
import {
	canonicalText,
	isVersion2,
	parseRegistration,
	type Registration,
	takesAllLayers,
} from "../../registry/registration.ts";
import { descriptionPath, langs, parseLayerPath } from "../../registry/smallkey.ts";
import { layerFacts } from "../../registry/targets/facts.ts";
import { renderAt } from "../../registry/targets/table.ts";
import { textsOf } from "../../registry/texts.ts";
import { plain } from "../../registry/untrusted-text.ts";
import { printCommit, storeBatch } from "../../scripts/register.ts";
import { servedBranch } from "../../store/branches.ts";
import { listTree } from "../../store/git/commands/tree.ts";
import { readRef } from "../../store/git/repository.ts";
import { memoryStore } from "../../store/memory.ts";
import { isRefusal, type Reader } from "../../store/store.ts";
import { descriptionText } from "../harvest/description.ts";
import type { Moved } from "./document.ts";

export interface Move extends Moved {
	/** Which document of the dump it is, from 1. */
	place: number;
}

/** Takes what cannot be moved. `place`: which document of the dump it is, from 1. */
export type Refuse = (key: string, reason: string, place: number | undefined) => void;

/**
 * Stores the layers of a dump in the configured store, in one commit. A harvested description stays as it is.
 * @param dryRun stores nothing, and says the same
 */
export async function storeLayers(
	moves: readonly Move[],
	configuration: Configuration,
	dryRun: boolean,
	io: Io,
	refuse: Refuse,
) {
	const byKey = new Map(moves.map((move) => [move.smallkey, move]));
	const editsOf = async (state: Reader, smallkey: string, registration: Registration) => {
		const edits = await putEdits(state, smallkey, registration);
		if (isRefusal(edits)) return edits;
		const stored = (await state.read(smallkey))?.description ?? null;
		const text = mergeImported(stored, byKey.get(smallkey)?.description ?? null);
		return text === stored || text === null ? edits : [...edits, { path: descriptionPath(smallkey), text }];
	};
	const registrations = new Map(moves.map(({ smallkey, registration }) => [smallkey, registration]));
	const options = { sender: "import", time: io.now().getTime(), partial: true, dryRun };
	const { store, close } = await (dryRun ? openCopy(configuration) : openStore(configuration));
	const batch = storeBatch(store, registrations, options, editsOf, "import");
	const { outcome, comparison, refused } = await batch.finally(close);
	if (isRefusal(outcome)) throw new WrongError(textsOf(outcome.errors).map(plain).join("\n"));
	for (const [smallkey, problems] of refused) {
		const reason = textsOf(problems)
			.join("; ")
			.replace(/^smallkey: \S+ /, "");
		refuse(smallkey, reason, byKey.get(smallkey)?.place);
		byKey.delete(smallkey);
	}
	for (const move of byKey.values()) {
		const reason = isServed(move, configuration) ? null : unservedReason(move);
		if (reason !== null) io.warn(`moved, but nothing serves it: ${move.smallkey}: ${plain(reason)}`);
	}
	const { added, changed, unchanged } = comparison;
	const [registered, end] = dryRun ? ["could be registered", "; nothing was written"] : ["registered", ""];
	io.print(
		`${added.length} ${registered}, ${changed.length} changed, ${unchanged.length} stored already${end}`,
	);
	printCommit(outcome, io);
}

/** The stored layers, in memory: a service may run on the folder. GitHub's branch is read itself. */
async function openCopy(
	configuration: Configuration,
): Promise<Pick<Awaited<ReturnType<typeof openStore>>, "store" | "close">> {
	if (configuration.github) return openStore(configuration);
	const repository = repositoryPath(configuration.dataDir);
	const isThere = (await readRef(repository)) !== null;
	const files = isThere ? await collectSource({ repository, ref: servedBranch }) : [];
	const texts = files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()]);
	return { store: memoryStore(Object.fromEntries(texts)), close: async () => undefined };
}

/** The smallkeys of the layers in DATA_DIR; none where the layers are on GitHub. */
export async function storedKeys({ dataDir, github }: Configuration): Promise<string[]> {
	const repository = repositoryPath(dataDir);
	if (github || (await readRef(repository)) === null) return [];
	const files = await listTree(repository, servedBranch, "layers/");
	const names = files.map(({ path }) => parseLayerPath(path));
	return names.flatMap((name) => (name?.part === "registration" ? [name.smallkey] : []));
}

/** Whether a target serves the layer, or may serve it after its harvest. */
function isServed({ smallkey, registration, description }: Move, settings: Configuration): boolean {
	return langs.some((lang) => {
		if (isVersion2(registration) && takesAllLayers(registration[lang])) return true;
		const facts = layerFacts(lang, smallkey, registration, description, settings);
		return settings.targets.some((target) => renderAt(target, facts) !== null);
	});
}

/** What a PUT of the layer would say; empty if it is accepted. */
function unservedReason({ registration }: Move): string {
	const bytes = Buffer.from(canonicalText(registration));
	return textsOf(parseRegistration(bytes, "written").problems).join("; ");
}

/** A language that was harvested from the same service stays. */
function mergeImported(stored: string | null, imported: Description | null): string | null {
	if (!imported) return stored;
	const before = parseDescription(stored ?? "") ?? {};
	const merged = { ...before, ...imported };
	for (const lang of langs) {
		const old = before[lang];
		const isHarvested = old !== undefined && old.from === undefined;
		if (isHarvested && old.service_url === imported[lang]?.service_url) merged[lang] = old;
	}
	return descriptionText(merged);
}
