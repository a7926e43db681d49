import { html, type TemplateResult } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import type { Registration } from "../../registry/registration.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { layerFacts } from "../../registry/targets/facts.ts";
import { renderAt } from "../../registry/targets/table.ts";
import { type Drawable, drawableOf, drawnTargets } from "../map/drawable.ts";
import { copyButton } from "../page/elements.ts";
import { settings } from "../page/page.ts";
import { t } from "./texts.ts";

export type DraftFragments = ReturnType<typeof draftFragments>;

/** Of all targets, in both languages; a text is null if the target cannot express the layer. */
export function draftFragments(registration: Registration, smallkey: string) {
	const facts = langs.map((lang) => layerFacts(lang, smallkey, registration, null, settings));
	return settings.targets.flatMap((target) =>
		facts.map((layer) => ({ target, lang: layer.lang, text: renderAt(target, layer) })),
	);
}

export function draftDrawable(fragments: DraftFragments, lang: Lang): Drawable | null {
	const drawn = drawnTargets(settings.targets);
	return drawableOf(
		fragments.filter((fragment) => fragment.lang === lang && drawn.includes(fragment.target)),
	);
}

export function renderFragments(fragments: DraftFragments): TemplateResult {
	const boxes = fragments.map(({ target, lang, text }) => {
		const name = `${target}, ${lang}`;
		const shown = text === null ? t("no-form-here") : JSON.stringify(JSON.parse(text), null, 2);
		// A changed text gets a new button, so that "Copied" is not shown for it.
		return html`<div><strong>${name}</strong> ${keyed(
			shown,
			copyButton(t("copy"), () => shown, name),
		)}
			<pre tabindex="0" role="region" aria-label=${name}><code>${shown}</code></pre></div>`;
	});
	return html`<section class="result">
		<details><summary>${t("viewers-would-read")}</summary><div class="copies">${boxes}</div></details>
	</section>`;
}
