import { isVersion2, type Registration } from "../registration.ts";
import { type Lang, langs } from "../smallkey.ts";
import { type FragmentSettings, layerFacts } from "./facts.ts";
import { renderAt, targetNames } from "./table.ts";
import type { TargetName } from "./target.ts";

/** A target in one language. */
export interface Place {
	target: TargetName;
	lang: Lang;
}

/** The targets and languages in which a registration can be read, and those that answer 404. */
export interface Readable {
	read: Place[];
	unread: Place[];
}

/** Divides the served targets by whether they can express a registration, before any harvest. */
export function readableAt(
	smallkey: string,
	registration: Registration,
	settings: FragmentSettings,
): Readable {
	const { targets = targetNames } = settings;
	const readable: Readable = { read: [], unread: [] };
	const facts = langs.map((lang) => layerFacts(lang, smallkey, registration, null, settings));
	for (const target of targets) {
		for (const layer of facts) {
			// Every target has a form for what version 1.x can say.
			const isRead = !isVersion2(registration) || renderAt(target, layer) !== null;
			(isRead ? readable.read : readable.unread).push({ target, lang: layer.lang });
		}
	}
	return readable;
}

/** A warning for each target that cannot express a registration. */
export function unreadWarnings({ unread }: Readable): string[] {
	const names = [...new Set(unread.map(({ target }) => target))];
	return names.map((name) => {
		const where = unread.filter(({ target }) => target === name).map(({ lang }) => lang);
		const rule = "this layer has no form there yet, and is answered with 404";
		return `${name}, ${where.join(" and ")}: ${rule}`;
	});
}
