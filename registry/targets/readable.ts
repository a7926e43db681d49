import { isVersion2, type Registration } from "../registration.ts";
import { langs } from "../smallkey.ts";
import { type FragmentSettings, layerFacts } from "./facts.ts";
import { renderAt, targetNames, targetPath } from "./table.ts";

/** The paths at which a registration can be read before any harvest, and a warning for each target that has no form for it. */
export function readableAt(
	smallkey: string,
	registration: Registration,
	settings: FragmentSettings,
): { paths: string[]; warnings: string[] } {
	const facts = langs.map((lang) => layerFacts(lang, smallkey, registration, null, settings));
	const paths: string[] = [];
	const warnings: string[] = [];
	for (const target of settings.targets ?? targetNames) {
		// Every target has a form for what version 1.x can say.
		const unread = isVersion2(registration) ? facts.filter((layer) => renderAt(target, layer) === null) : [];
		const read = facts.filter((layer) => !unread.includes(layer));
		paths.push(...read.map(({ lang }) => targetPath(target, lang, smallkey)));
		const where = unread.map(({ lang }) => lang).join(" and ");
		if (where)
			warnings.push(`${target}, ${where}: this layer has no form there yet, and is answered with 404`);
	}
	return { paths, warnings };
}
