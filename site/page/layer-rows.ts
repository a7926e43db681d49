import { causeIn, mondayOf } from "../../registry/health.ts";
import { type Lang, layerPath } from "../../registry/smallkey.ts";
import type { Entry } from "../data/entries.ts";
import { addressOf, hostsOf, keywordsIn, layersIn, senderOf, slugOf, stateOf } from "../search/select.ts";
import { publisherAddress, repairPlace } from "../static/addresses.ts";
import type { Translator } from "../text/translate.ts";
import type { SiteSettings } from "./page-settings.ts";

/** `address` is a link to another site, `list` a link to the catalogue with this query. */
export type RowPart =
	| { kind: "text" | "code" | "note"; text: string; lang?: Lang }
	| { kind: "address"; text: string; href: string }
	/** Below the site's root. */
	| { kind: "page"; text: string; href: string }
	| { kind: "list"; text: string; query: string };

export interface Row {
	name: string;
	parts: readonly RowPart[];
	/** Whether the table of both languages has it, too, which needs a script. */
	isInTable: boolean;
}

export function separator(parts: readonly RowPart[], index: number): string {
	if (index === 0) return "";
	return parts[index]?.kind === "note" ? " " : ", ";
}

export function rowsOf(
	entry: Entry,
	lang: Lang,
	{ t, stateText, typeText, dayText, causes }: Translator,
	settings: Pick<SiteSettings, "repository" | "branch" | "canSend">,
): Row[] {
	const { repository, branch, canSend } = settings;
	const { smallkey, bounds, changed, health } = entry;
	const text = (text: string, lang?: Lang): RowPart => ({ kind: "text", text, ...(lang && { lang }) });
	const list = (name: string, value: string): RowPart => {
		return { kind: "list", text: value, query: `?${new URLSearchParams({ [name]: value })}` };
	};
	const link = (href: string, text = href): RowPart => {
		return /^https?:/i.test(href) ? { kind: "address", text, href } : { kind: "text", text };
	};
	const repair = (href: string, text: string): RowPart =>
		canSend ? { kind: "page", text, href } : link(href, text);
	const filled = (value: string | undefined) => (value ? [text(value)] : []);
	const sender = senderOf(entry, lang);
	const publisher = publisherAddress(lang, slugOf(entry) ?? "");
	const history = `${repository}/commits/${branch}/${layerPath(smallkey)}`;
	const { text: cause, lang: causeLang } = causeIn(lang, causes, health ?? {});
	const rows: [name: string, parts: RowPart[]][] = [
		[t("smallkey"), [{ kind: "code", text: smallkey }]],
		[t("type"), [text(typeText(entry.type))]],
		[
			t("health"),
			[
				text(stateText(stateOf(entry))),
				...(health ? [text(t("since-week", dayText(new Date(mondayOf(health.since)))))] : []),
				...(cause ? [text(cause, causeLang === lang ? undefined : causeLang)] : []),
				...(health?.repair ? [repair(repairPlace(lang, smallkey, settings), t("repair-proposed"))] : []),
			],
		],
		[t("registered-by"), sender ? [{ kind: "page", text: sender, href: publisher }] : []],
		[
			t("last-change"),
			changed
				? [
						text(dayText(new Date(changed.date))),
						repository
							? link(`${repository}/commit/${changed.commit}`, `commit ${changed.commit.slice(0, 7)}`)
							: text(`commit ${changed.commit.slice(0, 7)}`),
						...(repository ? [link(history, t("its-history"))] : []),
					]
				: [],
		],
		[
			t("service-address"),
			[
				link(addressOf(entry, lang)),
				...(entry.address.fr === undefined ? [{ kind: "note" as const, text: t("same-address") }] : []),
			],
		],
		[t("service-host"), hostsOf(entry).map((host) => list("host", host))],
		[t("service-layers"), filled(layersIn(entry, lang).join(", "))],
		[t("extent"), filled(bounds && t("bounds", ...bounds))],
		[t("keywords"), filled(keywordsIn(entry, lang).join(", "))],
	];
	const inTable = new Set([t("service-address"), t("service-layers")]);
	return rows.flatMap(([name, parts]) =>
		parts.length > 0 ? [{ name, parts, isInTable: inTable.has(name) }] : [],
	);
}
