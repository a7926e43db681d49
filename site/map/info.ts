import { breakable, h, outside } from "../page/dom.ts";
import type { Texts } from "../text/english.ts";
import { ask, failureText, ServiceFailed } from "./ask.ts";
import type { Drawable } from "./drawable.ts";

/** Most characters of an answer that are shown. */
const maxText = 20_000;

/** Most features and members of one that are shown. */
const maxShown = 10;
const maxMembers = 200;

/**
 * What a WMS says of a place, as the viewer's parser would show it. HTML is shown in a frame of its own, without
 * scripts, forms and this page's origin: nothing of a service becomes a part of the page.
 */
export async function serviceInfo(texts: Texts, address: string, type: string): Promise<HTMLElement> {
	if (type === "text/html") {
		return h("iframe", { src: address, sandbox: "", title: texts.infoFrame, referrerpolicy: "no-referrer" });
	}
	try {
		const { text } = await ask(address);
		if (text.trim() === "") return h("p", {}, texts.infoNone);
		const shown = type === "application/json" ? indented(text) : text;
		return h(
			"pre",
			{ tabindex: "0", role: "region", "aria-label": texts.infoFrame },
			shown.slice(0, maxText),
		);
	} catch (error) {
		if (!(error instanceof ServiceFailed)) throw error;
		return h("p", { class: "bad" }, failureText(texts, error.failure));
	}
}

function indented(text: string): string {
	try {
		return JSON.stringify(JSON.parse(text), null, 2);
	} catch {
		return text;
	}
}

/** The attributes of features, under the names that people read. */
export function featureInfo(
	texts: Texts,
	{ nameField, aliases }: Drawable,
	features: Record<string, unknown>[],
): HTMLElement {
	if (features.length === 0) return h("p", {}, texts.infoNone);
	const shown = features.slice(0, maxShown).map((attributes) =>
		h(
			"section",
			{},
			h("h4", {}, String(attributes[nameField] ?? "") || texts.infoFrame),
			h(
				"dl",
				{},
				Object.entries(attributes)
					.slice(0, maxMembers)
					.flatMap(([name, value]) => [h("dt", {}, aliases[name] ?? name), h("dd", {}, shownValue(value))]),
			),
		),
	);
	const all = features.length > maxShown && h("p", {}, texts.infoFirst(maxShown, features.length));
	return h("div", {}, all, shown);
}

function shownValue(value: unknown): Node | string {
	if (value === null || value === undefined) return "–";
	const text = String(value);
	return /^https?:\/\/\S+$/.test(text) ? outside(text, text) : breakable(text.slice(0, maxText));
}
