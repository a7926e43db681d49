import { html, render } from "lit-html";
import { type Lang, otherLang } from "../../registry/smallkey.ts";
import type { TargetName } from "../../registry/targets/facts.ts";
import { type Drawable, drawableOf, drawnTargets } from "../map/drawable.ts";
import { fragmentPath } from "../static/addresses.ts";
import { createPart, warning } from "./elements.ts";
import { lang, readFile, settings, t } from "./page.ts";

export type Drawables = Readonly<Record<Lang, Drawable | null>>;

export async function readDrawables(
	smallkey: string,
	signal: AbortSignal,
	onError: (error: unknown) => null,
): Promise<Drawables> {
	const readIn = async (lang: Lang) => {
		const read = (target: TargetName) => {
			return readFile(fragmentPath(target, lang, smallkey), "no-cache", signal).catch(onError);
		};
		return drawableOf(await Promise.all(drawnTargets(settings.targets).map(read)));
	};
	const [en, fr] = await Promise.all([readIn("en"), readIn("fr")]);
	return { en, fr };
}

/** Prefers the service in the page's language. */
export class MapPanel {
	readonly #place = createPart("mapplace");
	readonly #closing = new AbortController();
	readonly element = createPart("mappanel", [html`<h2>${t("map")}</h2>`, this.#place]);

	constructor(readonly drawables: Drawables) {}

	/** Call it once the element is in the page. */
	async open(): Promise<void> {
		const { signal } = this.#closing;
		const drawable = this.drawables[lang] ?? this.drawables[otherLang[lang]];
		if (!drawable) return this.#warn(t("fragments-unread"));
		try {
			const { drawLayer } = await import("../map/layer-map.ts");
			if (!signal.aborted) await drawLayer(this.#place, drawable, signal);
		} catch (error) {
			console.error(error);
			if (signal.aborted) return;
			this.close();
			this.#warn(t("map-failed"));
		}
	}

	close(): void {
		this.#closing.abort();
	}

	#warn(text: string) {
		render(warning(text), this.#place);
	}
}
