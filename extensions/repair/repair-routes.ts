import type { ReadRepairs } from "../../api/context.ts";
import { langs } from "../../registry/smallkey.ts";
import type { Entry } from "../../site/data/entries.ts";
import { repairFolders } from "../../site/static/addresses.ts";
import type { PageSettings } from "../../site/static/html.ts";
import { repairHtml, repairsHtml } from "./repair-page.ts";

const repairPath = new RegExp(`^(?:${Object.values(repairFolders).join("|")})/`);

/** Whether a file is the page of a waiting repair, or of all. */
export function isRepairPage(file: string): boolean {
	return repairPath.test(file);
}

/**
 * GET <base>/en/repair/<smallkey>, /en/repair/ and the same in French: they follow the repository, so that a decision changes
 * them at once.
 * @param settings null before the first build
 * @returns null if no repair of the layer waits
 */
export async function renderRepairPage(
	file: string,
	repairs: ReadRepairs,
	settings: PageSettings | null,
	find: (smallkey: string) => Promise<Entry | null>,
): Promise<string | null> {
	if (!settings) return null;
	const lang = langs.find((one) => file.startsWith(`${repairFolders[one]}/`)) ?? "en";
	const smallkey = file.slice(`${repairFolders[lang]}/`.length, -".html".length);
	if (smallkey === "") return repairsHtml(lang, await repairs.list(), settings);
	const found = await repairs.of(smallkey);
	return found && repairHtml(lang, smallkey, await find(smallkey), found, settings);
}
